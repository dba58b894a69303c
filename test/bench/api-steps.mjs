// What `npm run bench:api` compares: one step after the other, each with operations per second and single times.
import { podsPath } from './pod-load.mjs';

/** The steps on one server; `memory` steps ask only what is resident. */
export function stepsOf(load, size) {
  const { pods: few, many } = size;
  const operations = (label, count, operation) =>
    load.probe.during(() => load.measure(label, count, operation));
  const list = (count, times, transform) => {
    const label = `list ${count} Pods${transform ? ` as a ${transform}` : ''}`;
    const accept = transform ? `application/json;as=${transform};v=v1;g=meta.k8s.io` : 'application/json';
    // What a client does with so many bytes is not the server's: they are read and dropped.
    const request = () => load.client.request('GET', podsPath, { accept, discard: true });
    return load.probe.during(() => load.measure(label, times, request, 1));
  };
  const page = (count) =>
    operations(`list by label, limit 100, of ${count}`, 200, () =>
      load.client.request('GET', `${podsPath}?labelSelector=half%3D1&limit=100`),
    );
  const memory = async (when) => ({
    label: `resident MB, ${when}`,
    isMemory: true,
    residentMB: (await load.probe.read()).residentMB,
  });
  const half = Math.round(many / 2);
  const fill = (from, to) =>
    operations(`create until there are ${to}`, to - from, (i) => load.create(`many-${from + i}`));
  return [
    () => operations('create', few, (i) => load.create(`pod-${i}`)),
    () => operations('get', few, (i) => load.get(`pod-${i}`)),
    () => operations('patch a label', few, (i) => load.patch(`pod-${i}`)),
    () => list(few, 20),
    () => page(few),
    () => memory(`${few} Pods`),
    () => operations('delete', few, (i) => load.delete(`pod-${i}`)),
    ...(many
      ? [
          () => fill(0, half),
          () => memory(`${half} Pods`),
          () => fill(half, many),
          () => list(many, 5),
          () => list(many, 3, 'Table'),
          () => page(many),
          () => memory(`${many} Pods`),
        ]
      : []),
    // They come last: what a thousand connections need stays with the process.
    ...size.watchers.flatMap((watchers) => [
      () => load.fanOut({ watchers, creates: size.watchedCreates, prefix: `watched-${watchers}` }),
      () => memory(`after ${watchers} watchers`),
    ]),
  ];
}
