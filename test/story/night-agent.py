"""A stock agent that knows HTTP and nothing of CIBA: it asks in the evening and is started again in the morning."""
import os
import sys

import requests

API, TENANT, KEY = os.environ["CARDEA"] + "/api/v1", os.environ["TENANT"], os.environ["AGENT_KEY"]
GRANT = {"service_name": "warehouse", "fields": ["password"]}


def call(method, path, body=None, **headers):
    answer = requests.request(method, API + path, json=body, timeout=40, headers={
        "authorization": f"Bearer {KEY}", "x-service-tenant": TENANT, **headers})
    answer.raise_for_status()
    return answer.json()["data"]


session = call("POST", "/agent/sessions", {
    "services": [GRANT], "subject_token": os.environ["USER_TOKEN"], "purpose": "Nightly report"})


def vend(**more):
    return call("POST", f"/agent/sessions/{session['id']}/credentials", {**GRANT, **more},
                **{"x-service-token": session["capability_token"]})


if sys.argv[1:] == []:
    print(session["id"], vend()["approval_id"])
else:
    approval, status = sys.argv[1], "pending"
    while status == "pending":
        status = call("GET", f"/ciba/token/{approval}?wait=25")["status"]
    print(status, vend(approval_id=approval)["fields"]["password"])
