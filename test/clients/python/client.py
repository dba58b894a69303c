"""Drives a cluster with the Python client: a built-in kind and a custom resource. Usage: client.py KUBECONFIG"""

import sys
import time

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient

NAMESPACE = "python"
GROUP = "python.example.com"


def config_maps(core):
    core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    listed = core.list_namespaced_config_map(NAMESPACE, field_selector="metadata.name=a")
    assert [item.data for item in listed.items] == [{"x": "1"}], listed
    core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"y": "2"}})
    assert core.read_namespaced_config_map("a", NAMESPACE).data == {"x": "1", "y": "2"}
    core.delete_namespaced_config_map("a", NAMESPACE)
    seen = watch.Watch().stream(
        core.list_namespaced_config_map,
        NAMESPACE,
        field_selector="metadata.name=a",
        resource_version=listed.metadata.resource_version,
        timeout_seconds=10,
    )
    assert next(seen)["type"] == "MODIFIED"
    assert next(seen)["type"] == "DELETED"
    try:
        core.read_namespaced_config_map("a", NAMESPACE)
    except ApiException as error:
        assert error.status == 404, error
    else:
        raise AssertionError("what was deleted is still there")


def definition():
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "kettles." + GROUP},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "kettles", "singular": "kettle", "kind": "Kettle"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def established(definitions, name):
    for _ in range(100):
        conditions = definitions.read_custom_resource_definition(name).status.conditions or []
        if any(c.type == "Established" and c.status == "True" for c in conditions):
            return
        time.sleep(0.05)
    raise AssertionError("the definition was never established")


def custom_resources(api):
    definitions = client.ApiextensionsV1Api(api)
    definitions.create_custom_resource_definition(definition())
    established(definitions, "kettles." + GROUP)
    kettles = DynamicClient(api).resources.get(api_version=GROUP + "/v1", kind="Kettle")
    body = {"apiVersion": GROUP + "/v1", "kind": "Kettle", "metadata": {"name": "blue"}, "spec": {"size": 1}}
    created = kettles.create(body=body, namespace=NAMESPACE)
    kettles.patch(
        name="blue", namespace=NAMESPACE, body={"spec": {"size": 2}}, content_type="application/merge-patch+json"
    )
    applied = {**body, "spec": {"mode": "fast"}}
    kettles.server_side_apply(body=applied, name="blue", namespace=NAMESPACE, field_manager="python")
    got = kettles.get(name="blue", namespace=NAMESPACE)
    assert (got.spec.size, got.spec.mode) == (2, "fast"), got
    assert len(kettles.get(namespace=NAMESPACE).items) == 1
    kettles.delete(name="blue", namespace=NAMESPACE)
    events = kettles.watch(
        namespace=NAMESPACE, resource_version=created.metadata.resourceVersion, timeout=10
    )
    assert [next(events)["type"] for _ in range(3)] == ["MODIFIED", "MODIFIED", "DELETED"]
    definitions.delete_custom_resource_definition("kettles." + GROUP)


def main():
    config.load_kube_config(sys.argv[1])
    with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        core.create_namespace({"metadata": {"name": NAMESPACE}})
        config_maps(core)
        custom_resources(api)
        core.delete_namespace(NAMESPACE)
    print("done")


main()
