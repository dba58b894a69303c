import type { Pod, Secret } from '@tinkernetes/api';
import type { Clock, TraceParent } from '@tinkernetes/component-base';
import type { DeepPartial, Image, ImageClient, PodSandboxConfig } from '@tinkernetes/cri';
import { BackOff, preciseDurationText } from '../runtime/back-off';
import type { PodEvents } from '../runtime/pod-events';
import { StartError } from '../runtime/start-error';
import { uidOf } from '../pods/pod-facts';
import { invalidReference, repositoryOf, withDefaultTag } from './image-name';
import { credentialsFor, type SecretCredential } from './keyring';
import type { PullRecords } from './pull-records';

export interface ImageRequest {
  pod: Pod;
  /** As the user wrote it. */
  image: string;
  pullPolicy: string | undefined;
  /** Whose image it is; undefined: a volume's, of which the Pod's events tell. */
  container: string | undefined;
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
  records: PullRecords;
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
  /** Questions to the runtime that it has not answered yet, by image. */
  private readonly asked = new Map<string, Promise<Image | null>>();

  constructor(private readonly deps: ImageManagerDeps) {
    this.backOff = new BackOff(deps.clock, initialBackOffMs, maxBackOffMs);
  }

  /** The image as the runtime knows it; throws StartError with the reason to show. */
  async ensure(request: ImageRequest): Promise<ReadyImage> {
    const { image: wanted, pullSecrets } = request;
    const image = withDefaultTag(wanted);
    if (!image) {
      const message = `Failed to apply default image tag "${wanted}": couldn't parse image name "${wanted}": ${invalidReference(wanted)}`;
      this.tell(request, 'InspectFailed', message, 'Warning');
      throw new StartError('InvalidImageName', message);
    }
    const policy = request.pullPolicy ?? (image.endsWith(':latest') ? 'Always' : 'IfNotPresent');
    const present = policy === 'Always' ? null : await this.present(image);
    const credentials = credentialsFor(image, pullSecrets);
    if (present && !this.deps.records.mustPull(repositoryOf(image), present.id, credentials)) {
      const message = `Container image "${wanted}" already present on machine and can be accessed by the pod`;
      this.tell(request, 'Pulled', message);
      return { image, imageRef: present.id, user: userOf(present) };
    }
    if (policy === 'Never') {
      const message = `Container image "${wanted}" is not present with pull policy of Never`;
      this.tell(request, 'ErrImageNeverPull', message, 'Warning');
      throw new StartError('ErrImageNeverPull', message);
    }
    return this.pull(image, request, credentials);
  }

  forget(pod: Pod): void {
    this.backOff.forget(uidOf(pod));
    for (const key of [...this.failures.keys()]) if (key.startsWith(uidOf(pod))) this.failures.delete(key);
  }

  /** Pods that start together mostly have their image in common: it is asked for once for all that wait for the answer. */
  private present(image: string): Promise<Image | null> {
    const known = this.asked.get(image);
    if (known) return known;
    const answer = this.status(image).finally(() => this.asked.delete(image));
    this.asked.set(image, answer);
    return answer;
  }

  private async status(image: string): Promise<Image | null> {
    try {
      return (await this.deps.images.imageStatus({ image: { image } })).image;
    } catch (error) {
      throw new StartError('ImageInspectError', `Failed to inspect image "${image}": ${String(error)}`, {
        cause: error,
      });
    }
  }

  private async pull(
    image: string,
    request: ImageRequest,
    credentials: readonly SecretCredential[],
  ): Promise<ReadyImage> {
    const { pod, image: wanted } = request;
    const { clock, records } = this.deps;
    const key = `${uidOf(pod)}_${image}`;
    const failure = this.failures.get(key);
    const remaining = failure ? this.backOff.remaining(key, failure.at) : 0;
    if (failure && remaining > 0) {
      const message = `Back-off pulling image "${wanted}"`;
      this.tell(request, 'BackOff', message);
      throw new StartError('ImagePullBackOff', `${message}: ErrImagePull: ${failure.message}`, {
        retryAfterMs: remaining,
      });
    }
    const waitingSince = clock.monotonic();
    try {
      const { started, imageRef, credential } = await this.inTurn(async () => {
        this.tell(request, 'Pulling', `Pulling image "${wanted}"`);
        const begun = clock.monotonic();
        return { ...(await this.tryCredentials(image, request, credentials)), started: begun };
      });
      const now = clock.monotonic();
      records.pulled(repositoryOf(image), imageRef, { credential, now: new Date(clock.now()) });
      const pulled = await this.status(image);
      const took = preciseDurationText(now - started);
      const waited = preciseDurationText(now - waitingSince);
      this.tell(
        request,
        'Pulled',
        `Successfully pulled image "${wanted}" in ${took} (${waited} including waiting). Image size: ${pulled?.size ?? 0} bytes.`,
      );
      this.failures.delete(key);
      this.backOff.forget(key);
      return { image, imageRef, user: userOf(pulled) };
    } catch (error) {
      const now = clock.now();
      const message = String(error);
      this.tell(request, 'Failed', `Failed to pull image "${wanted}": ${message}`, 'Warning');
      this.backOff.next(key, now);
      this.failures.set(key, { at: now, message });
      throw new StartError('ErrImagePull', message, {
        cause: error,
        retryAfterMs: Math.min(nextLookMs, this.backOff.remaining(key, now)),
      });
    }
  }

  private tell(
    { pod, container }: ImageRequest,
    reason: string,
    message: string,
    type: 'Normal' | 'Warning' = 'Normal',
  ): void {
    const { events } = this.deps;
    if (container === undefined) events.pod(pod, type, reason, message);
    else events.container(pod, container, { type, reason, message });
  }

  /** With each matching credential in turn, without any when there is none. */
  private async tryCredentials(
    image: string,
    request: ImageRequest,
    credentials: readonly SecretCredential[],
  ): Promise<{ imageRef: string; credential: SecretCredential | undefined }> {
    let failure: unknown;
    for (const credential of credentials.length > 0 ? credentials : [undefined]) {
      try {
        const { imageRef } = await this.deps.images.pullImage(
          {
            image: {
              image,
              userSpecifiedImage: request.image,
              annotations: request.pod.metadata.annotations,
            },
            auth: credential?.auth,
            sandboxConfig: request.sandboxConfig,
          },
          { timeoutMs: 0, traceParent: request.traceParent },
        );
        return { imageRef, credential };
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
