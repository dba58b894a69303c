// Drives a cluster with client-go as controllers do: typed and dynamic clients, server-side apply, and an informer that
// fills itself by a streaming list. Usage: go run . -kubeconfig FILE -content-type json|protobuf
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	contentType := flag.String("content-type", "json", "json or protobuf")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	typed := rest.CopyConfig(config)
	if *contentType == "protobuf" {
		// Nothing else is accepted: a server that answers in JSON fails the request.
		typed.ContentType, typed.AcceptContentTypes = protobuf, protobuf
	}
	client := kubernetes.NewForConfigOrDie(typed)
	namespace := "go-" + *contentType
	must(client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}))
	deployments(ctx, client, namespace)
	configMaps(ctx, client, namespace)
	informer(ctx, client, namespace)
	customResources(ctx, dynamic.NewForConfigOrDie(config), namespace)
	check(client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))
	fmt.Println("done")
}

func check(err error) {
	if err != nil {
		log.Output(2, err.Error())
		log.Fatal("failed")
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func expect(holds bool, what string) {
	if !holds {
		check(errors.New("not so: " + what))
	}
}

// next waits for an event of a type; bookmarks and others are passed over.
func next(ctx context.Context, w watch.Interface, wanted watch.EventType) {
	for {
		select {
		case event, open := <-w.ResultChan():
			expect(open, "the watch is open")
			expect(event.Type != watch.Error, fmt.Sprint("no error in the watch: ", event.Object))
			if event.Type == wanted {
				return
			}
		case <-ctx.Done():
			check(ctx.Err())
		}
	}
}

func deployments(ctx context.Context, client kubernetes.Interface, namespace string) {
	api := client.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "web"}
	replicas := int32(0)
	created := must(api.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{}))
	expect(created.Spec.Strategy.RollingUpdate != nil, "defaults are filled in")
	watching := must(api.Watch(ctx, metav1.ListOptions{ResourceVersion: created.ResourceVersion, LabelSelector: "app=web"}))
	defer watching.Stop()
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.27"}]}}}}`)
	patched := must(api.Patch(ctx, "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}))
	expect(patched.Spec.Template.Spec.Containers[0].Image == "nginx:1.27", "the strategic patch merged by name")
	next(ctx, watching, watch.Modified)
	list := must(api.List(ctx, metav1.ListOptions{LabelSelector: "app in (web)"}))
	expect(len(list.Items) == 1 && list.Items[0].Name == "web", "the list holds the Deployment")
	check(api.Delete(ctx, "web", metav1.DeleteOptions{}))
	next(ctx, watching, watch.Deleted)
}

func configMaps(ctx context.Context, client kubernetes.Interface, namespace string) {
	api := client.CoreV1().ConfigMaps(namespace)
	apply := func(owner, value string, force bool) (*corev1.ConfigMap, error) {
		return api.Apply(ctx, applycorev1.ConfigMap("settings", namespace).WithData(map[string]string{"mode": value}),
			metav1.ApplyOptions{FieldManager: owner, Force: force})
	}
	must(apply("one", "slow", false))
	_, err := apply("two", "fast", false)
	expect(apierrors.IsConflict(err), fmt.Sprint("another manager's value is a conflict: ", err))
	expect(must(apply("two", "fast", true)).Data["mode"] == "fast", "force takes the field")
	got := must(api.Get(ctx, "settings", metav1.GetOptions{}))
	got.Data["more"] = "yes"
	must(api.Update(ctx, got, metav1.UpdateOptions{}))
	_, err = api.Update(ctx, got, metav1.UpdateOptions{})
	expect(apierrors.IsConflict(err), fmt.Sprint("a stale update is a conflict: ", err))
	check(api.Delete(ctx, "settings", metav1.DeleteOptions{}))
	_, err = api.Get(ctx, "settings", metav1.GetOptions{})
	expect(apierrors.IsNotFound(err), fmt.Sprint("what was deleted is not found: ", err))
}

func informer(ctx context.Context, client kubernetes.Interface, namespace string) {
	api := client.CoreV1().ConfigMaps(namespace)
	for _, name := range []string{"a", "b"} {
		must(api.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	shared := factory.Core().V1().ConfigMaps().Informer()
	deleted := make(chan string, 4)
	must(shared.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		if config, ok := object.(*corev1.ConfigMap); ok {
			deleted <- config.Name
		}
	}}))
	factory.StartWithContext(ctx)
	expect(cache.WaitForCacheSync(ctx.Done(), shared.HasSynced), "the informer syncs")
	_, found, err := shared.GetStore().GetByKey(namespace + "/a")
	expect(err == nil && found, "the informer holds what was there before")
	check(api.Delete(ctx, "b", metav1.DeleteOptions{}))
	select {
	case name := <-deleted:
		expect(name == "b", "the informer tells of the deletion")
	case <-ctx.Done():
		check(ctx.Err())
	}
}

func customResources(ctx context.Context, client dynamic.Interface, namespace string) {
	group := namespace + ".example.com"
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	must(definitions.Create(ctx, definition(group), metav1.CreateOptions{}))
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "kettles"}
	api := client.Resource(resource).Namespace(namespace)
	kettle := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Kettle",
		"metadata": map[string]any{"name": "blue"}, "spec": map[string]any{"size": int64(1)},
	}}
	var created *unstructured.Unstructured
	for {
		var err error
		if created, err = api.Create(ctx, kettle, metav1.CreateOptions{}); err == nil {
			break
		}
		// The resource appears a moment after its definition.
		expect(apierrors.IsNotFound(err) && ctx.Err() == nil, fmt.Sprint("only the resource is missing: ", err))
		time.Sleep(50 * time.Millisecond)
	}
	watching := must(api.Watch(ctx, metav1.ListOptions{ResourceVersion: created.GetResourceVersion()}))
	defer watching.Stop()
	must(api.Patch(ctx, "blue", types.MergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{}))
	next(ctx, watching, watch.Modified)
	kettle.Object["spec"] = map[string]any{"mode": "fast"}
	must(api.Apply(ctx, "blue", kettle, metav1.ApplyOptions{FieldManager: "go"}))
	got := must(api.Get(ctx, "blue", metav1.GetOptions{}))
	size, _, _ := unstructured.NestedInt64(got.Object, "spec", "size")
	mode, _, _ := unstructured.NestedString(got.Object, "spec", "mode")
	expect(size == 2 && mode == "fast", "patch and apply are both there")
	expect(len(must(api.List(ctx, metav1.ListOptions{})).Items) == 1, "the list holds the kettle")
	check(api.Delete(ctx, "blue", metav1.DeleteOptions{}))
	next(ctx, watching, watch.Deleted)
	check(definitions.Delete(ctx, "kettles."+group, metav1.DeleteOptions{}))
}

func definition(group string) *unstructured.Unstructured {
	properties := map[string]any{"spec": map[string]any{
		"type":       "object",
		"properties": map[string]any{"size": map[string]any{"type": "integer"}, "mode": map[string]any{"type": "string"}},
	}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "kettles." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"plural": "kettles", "singular": "kettle", "kind": "Kettle"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": properties}},
			}},
		},
	}}
}
