"""Verifies tokens by a library that is not ours, as its own documentation shows.

Reads {"jwks", "tokens": [{"alg", "token", "issuer", "audience"}]} from standard input and prints, for each token,
its claims or the name of the error. The first argument names the library.
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
    return decoded.claims


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
    return dict(claims)


def by_python_jose(jwks, alg, token, issuer, audience):
    from jose import jwt

    # It tries each key of a set and fails at kinds that it does not know, so its users pick the key by its id.
    kid = jwt.get_unverified_header(token)["kid"]
    key = next(key for key in jwks["keys"] if key["kid"] == kid)
    # at_hash is compared where the access token is given along.
    return jwt.decode(
        token,
        key,
        algorithms=[alg],
        issuer=issuer,
        audience=audience,
        options={"verify_at_hash": False},
    )


LIBRARIES = {"joserfc": by_joserfc, "authlib": by_authlib, "python-jose": by_python_jose}


def verified(verify, jwks, token):
    try:
        return {"claims": verify(jwks, **token)}
    except Exception as error:  # Each library has errors of its own.
        return {"error": type(error).__name__}


verify = LIBRARIES[sys.argv[1]]
given = json.load(sys.stdin)
print(json.dumps([verified(verify, given["jwks"], token) for token in given["tokens"]]))
