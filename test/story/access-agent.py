"""A stock agent that knows HTTP and nothing of CIBA: it asks for a field that it lacks, and waits until it has it."""
import os
import time

import requests

API, TENANT, KEY = os.environ["CARDEA"] + "/api/v1", os.environ["TENANT"], os.environ["AGENT_KEY"]
GRANT = {"service_name": "warehouse", "fields": ["password"]}


def call(method, path, body=None, **headers):
    return requests.request(method, API + path, json=body, timeout=40, headers={
        "authorization": f"Bearer {KEY}", "x-service-tenant": TENANT, **headers})


def begin(services):
    return call("POST", "/agent/sessions", {"services": services})


def vend(session):
    return call("POST", f"/agent/sessions/{session['id']}/credentials", GRANT,
                **{"x-service-token": session["capability_token"]})


refused = vend(begin([]).json()["data"]).json()["error"]
method, path = refused["details"]["request_access"].split(" ")
asked = call(method, path.removeprefix("/api/v1"), {"services": [GRANT], "duration_seconds": 300})
print(refused["code"], asked.json()["id"], flush=True)

status = "pending"
while status == "pending":
    status = call("GET", f"/ciba/token/{asked.json()['id']}?wait=25").json()["data"]["status"]
begun = begin([GRANT])
while status == "approved" and begun.status_code == 403:  # It has it a moment after the approval.
    time.sleep(0.2)
    begun = begin([GRANT])
print(status, vend(begun.json()["data"]).json()["data"]["fields"]["password"], flush=True)
