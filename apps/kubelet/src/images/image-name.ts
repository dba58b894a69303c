const reference =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::\d+)?\/)?[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$/;

/** The image with `:latest` where it has neither tag nor digest; undefined when it is no image reference. */
export function withDefaultTag(image: string): string | undefined {
  if (!reference.test(image)) return undefined;
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.includes(':') || name.includes('@') ? image : `${image}:latest`;
}

/** Why it is none, in the words of Go's distribution/reference. */
export function invalidReference(image: string): string {
  const repository = repositoryOf(image);
  const name = repository.slice(repository.indexOf('/') + 1);
  const detail = name === name.toLowerCase() ? '' : `: repository name (${name}) must be lowercase`;
  return `invalid reference format${detail}`;
}

/** `docker.io/library/nginx` of `nginx:1.27`: what credentials are looked up by. */
export function repositoryOf(image: string): string {
  const bare = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  const [first = '', ...rest] = bare.split('/');
  const isHost = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost');
  if (isHost) return bare;
  return rest.length > 0 ? `docker.io/${bare}` : `docker.io/library/${bare}`;
}
