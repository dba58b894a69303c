/** `Always` for images tagged `latest` or not at all. Source: pkg/apis/core/v1.SetDefaults_Container. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

/** The tag of an image reference; `latest` when it has neither tag nor digest, '' for a digest alone. */
export function tagOf(image: string): string {
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const colon = name.lastIndexOf(':');
  const hasTag = colon > name.lastIndexOf('/');
  if (hasTag) return name.slice(colon + 1);
  return at < 0 ? 'latest' : '';
}
