import type { Container, Pod, Secret } from '@tinkernetes/api';
import type { Clock, TraceParent } from '@tinkernetes/component-base';
import type { DeepPartial, Image, ImageClient, PodSandboxConfig } from '@tinkernetes/cri';
import { BackOff, preciseDurationText } from '../runtime/back-off';
import type { PodEvents } from '../runtime/pod-events';
import { StartError } from '../runtime/start-error';
import { uidOf } from '../pods/pod-facts';
import { withDefaultTag } from './image-name';
import { credentialsFor } from './keyring';

export interface ImageRequest {
  pod: Pod;
  container: Container;
  sandboxConfig: DeepPartial<PodSandboxConfig>;
  pullSecrets: readonly Secret[];
  traceParent?: TraceParent;
}

/** Whom the image wants to run as. */
export interface ImageUser {
  /** Left out where the image has a name, which only its own /etc/passwd explains. */
  uid: number | undefined;
  username: string;
}

export interface ReadyImage {
  image: string;
  imageRef: string;
  user: ImageUser;
}

/** An image that says nothing runs as root. */
const userOf = (image: Image | null): ImageUser => ({
  uid: image?.uid?.value ?? (image?.username ? undefined : 0),
  username: image?.username ?? '',
});

export interface ImageManagerDeps {
  images: ImageClient;
  events: PodEvents;
  clock: Clock;
  /** Pulls one image at a time, upstream's default. */
  serializePulls: boolean;
}

const initialBackOffMs = 10_000;
const maxBackOffMs = 300_000;
/** How soon after a failed pull the container is looked at again: then it is known to be waiting. */
const nextLookMs = 1000;

/** Brings images to the node by policy, with back-off and events. Source: pkg/kubelet/images EnsureImageExists. */
export class ImageManager {
  private readonly backOff: BackOff;
  private readonly failures = new Map<string, { at: number; message: string }>();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: ImageManagerDeps) {
    this.backOff = new BackOff(deps.clock, initialBackOffMs, maxBackOffMs);
  }

  /** The image as the runtime knows it; throws StartError with the reason to show. */
  async ensure(request: ImageRequest): Promise<ReadyImage> {
    const { pod, container } = request;
    const wanted = container.image ?? '';
    const image = withDefaultTag(wanted);
    if (!image) {
      const message = `Failed to apply default image tag "${wanted}": couldn't parse image name "${wanted}": invalid reference format`;
      this.deps.events.container(pod, container.name, { type: 'Warning', reason: 'InspectFailed', message });
      throw new StartError('InvalidImageName', message);
    }
    const policy = container.imagePullPolicy ?? (image.endsWith(':latest') ? 'Always' : 'IfNotPresent');
    const present = await this.present(image);
    if (present && policy !== 'Always') {
      this.deps.events.container(pod, container.name, {
        reason: 'Pulled',
        message: `Container image "${wanted}" already present on machine and can be accessed by the pod`,
      });
      return { image, imageRef: present.id, user: userOf(present) };
    }
    if (policy === 'Never') {
      const message = `Container image "${wanted}" is not present with pull policy of Never`;
      this.deps.events.container(pod, container.name, {
        type: 'Warning',
        reason: 'ErrImageNeverPull',
        message,
      });
      throw new StartError('ErrImageNeverPull', message);
    }
    return this.pull(image, request);
  }

  forget(pod: Pod): void {
    this.backOff.forget(uidOf(pod));
    for (const key of [...this.failures.keys()]) if (key.startsWith(uidOf(pod))) this.failures.delete(key);
  }

  private async present(image: string): Promise<Image | null> {
    try {
      return (await this.deps.images.imageStatus({ image: { image } })).image;
    } catch (error) {
      throw new StartError('ImageInspectError', `Failed to inspect image "${image}": ${String(error)}`, {
        cause: error,
      });
    }
  }

  private async pull(image: string, request: ImageRequest): Promise<ReadyImage> {
    const { pod, container } = request;
    const { clock, events } = this.deps;
    const key = `${uidOf(pod)}_${image}`;
    const failure = this.failures.get(key);
    const remaining = failure ? this.backOff.remaining(key, failure.at) : 0;
    if (failure && remaining > 0) {
      events.container(pod, container.name, {
        reason: 'BackOff',
        message: `Back-off pulling image "${container.image}"`,
      });
      throw new StartError(
        'ImagePullBackOff',
        `Back-off pulling image "${container.image}": ErrImagePull: ${failure.message}`,
        { retryAfterMs: remaining },
      );
    }
    const waitingSince = clock.monotonic();
    try {
      const { imageRef, started } = await this.inTurn(async () => {
        events.container(pod, container.name, {
          reason: 'Pulling',
          message: `Pulling image "${container.image}"`,
        });
        const begun = clock.monotonic();
        return { imageRef: await this.tryCredentials(image, request), started: begun };
      });
      const now = clock.monotonic();
      const pulled = await this.present(image);
      const took = preciseDurationText(now - started);
      const waited = preciseDurationText(now - waitingSince);
      events.container(pod, container.name, {
        reason: 'Pulled',
        message: `Successfully pulled image "${container.image}" in ${took} (${waited} including waiting). Image size: ${pulled?.size ?? 0} bytes.`,
      });
      this.failures.delete(key);
      this.backOff.forget(key);
      return { image, imageRef, user: userOf(pulled) };
    } catch (error) {
      const now = clock.now();
      const message = String(error);
      events.container(pod, container.name, {
        type: 'Warning',
        reason: 'Failed',
        message: `Failed to pull image "${container.image}": ${message}`,
      });
      this.backOff.next(key, now);
      this.failures.set(key, { at: now, message });
      throw new StartError('ErrImagePull', message, {
        cause: error,
        retryAfterMs: Math.min(nextLookMs, this.backOff.remaining(key, now)),
      });
    }
  }

  /** With each matching credential in turn, without any when there is none. */
  private async tryCredentials(image: string, request: ImageRequest): Promise<string> {
    const credentials = credentialsFor(image, request.pullSecrets);
    let failure: unknown;
    for (const auth of credentials.length > 0 ? credentials : [undefined]) {
      try {
        const answer = await this.deps.images.pullImage(
          {
            image: {
              image,
              userSpecifiedImage: request.container.image,
              annotations: request.pod.metadata.annotations,
            },
            auth,
            sandboxConfig: request.sandboxConfig,
          },
          { timeoutMs: 0, traceParent: request.traceParent },
        );
        return answer.imageRef;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (!this.deps.serializePulls) return work();
    const turn = this.queue.then(work);
    this.queue = turn.catch(() => undefined);
    return turn;
  }
}
