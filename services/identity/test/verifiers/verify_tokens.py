"""Verifies tokens by a library that is not ours, as its own documentation shows.

Reads {"jwks", "tokens": [{"kind", "alg", "token", "issuer", "audience"}]} from standard input and prints, for each
token, its claims or the name of the error. The first argument names the library.
"""

import json
import sys


def by_joserfc(jwks, alg, token, issuer, audience):
    from joserfc import jwt
    from joserfc.jwk import KeySet

    decoded = jwt.decode(token, KeySet.import_key_set(jwks), algorithms=[alg])
    claims = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": audience},
    )
    claims.validate(decoded.claims)
    return decoded.header, decoded.claims


def by_authlib(jwks, alg, token, issuer, audience):
    from authlib.jose import JsonWebKey, JsonWebToken

    claims = JsonWebToken([alg]).decode(
        token,
        JsonWebKey.import_key_set(jwks),
        claims_options={
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": audience},
        },
    )
    claims.validate()
    return claims.header, dict(claims)


def by_python_jose(jwks, alg, token, issuer, audience):
    from jose import jwt

    # It tries each key of a set and fails at kinds that it does not know, so its users pick the key by its id.
    header = jwt.get_unverified_header(token)
    key = next(key for key in jwks["keys"] if key["kid"] == header["kid"])
    # at_hash is compared where the access token is given along.
    claims = jwt.decode(
        token,
        key,
        algorithms=[alg],
        issuer=issuer,
        audience=audience,
        options={"verify_at_hash": False},
    )
    return header, claims


LIBRARIES = {"joserfc": by_joserfc, "authlib": by_authlib, "python-jose": by_python_jose}


LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


def check_logout(header, claims):
    """What Back-Channel Logout 1.0, section 2.6, asks beyond signature, issuer and audience. No library does it."""
    required = {
        "typ": header.get("typ") == "logout+jwt",
        "iat": isinstance(claims.get("iat"), int),
        "jti": isinstance(claims.get("jti"), str),
        "sid": isinstance(claims.get("sid"), str),
        "events": claims.get("events") == {LOGOUT: {}},
        "nonce": "nonce" not in claims,
    }
    wrong = [name for name, holds in required.items() if not holds]
    if wrong:
        raise ValueError(f"no logout token: {', '.join(wrong)}")


def verified(verify, jwks, kind, **token):
    try:
        header, claims = verify(jwks, **token)
        if kind == "logout_token":
            check_logout(header, claims)
        return {"claims": claims}
    except Exception as error:  # Each library has errors of its own.
        return {"error": type(error).__name__}


verify = LIBRARIES[sys.argv[1]]
given = json.load(sys.stdin)
print(json.dumps([verified(verify, given["jwks"], **token) for token in given["tokens"]]))
