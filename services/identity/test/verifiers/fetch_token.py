"""Exchanges the code of an answer, and refreshes, by requests-oauthlib: it throws where the scope is not the one it asked for."""
import json
import os
import sys

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
from requests_oauthlib import OAuth2Session  # noqa: E402

given = json.load(sys.stdin)
session = OAuth2Session(
    given["client_id"],
    redirect_uri=given["redirect_uri"],
    scope=given["scope"].split(" "),
    state=given["state"],
)
try:
    first = session.fetch_token(
        given["token_endpoint"],
        authorization_response=given["answer"],
        code_verifier=given["code_verifier"],
        include_client_id=True,
    )
    again = session.refresh_token(
        given["token_endpoint"],
        refresh_token=first["refresh_token"],
        client_id=given["client_id"],
    )
    print(json.dumps({"first": first["scope"], "again": again["scope"]}))
except Warning as warning:
    print(json.dumps({"error": str(warning)}))
