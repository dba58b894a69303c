import type { ContainerEventResponse, DeepPartial } from '@tinkernetes/cri';
import type { RuntimeEvent, RuntimeState } from '../containers/runtime-state';
import { containerStatus, sandboxStatus } from './views';

/** CRI GetContainerEvents: what the kubelet's evented PLEG listens to. */
export async function* containerEvents(
  state: RuntimeState,
  signal: AbortSignal,
): AsyncGenerator<DeepPartial<ContainerEventResponse>> {
  const queue: DeepPartial<ContainerEventResponse>[] = [];
  let wake: () => void = () => undefined;
  // The statuses are those of the moment of the event, not of its delivery.
  const stop = state.onEvent((event) => {
    queue.push(toResponse(state, event));
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!signal.aborted) {
      const next = queue.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    stop();
  }
}

function toResponse(state: RuntimeState, event: RuntimeEvent): DeepPartial<ContainerEventResponse> {
  const sandbox = state.sandboxes.get(event.sandboxId);
  return {
    containerId: event.id,
    containerEventType: event.type,
    createdAt: event.createdAt,
    podSandboxStatus: sandbox && sandboxStatus(sandbox),
    containersStatuses: state.containersOf(event.sandboxId).map(containerStatus),
  };
}
