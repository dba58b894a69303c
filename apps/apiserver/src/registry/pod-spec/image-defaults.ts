/** `Always` for images tagged `latest` or not at all. Source: pkg/apis/core/v1.SetDefaults_Container. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return isReference(image) && tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const domainPart = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `${domainPart}(?:\\.${domainPart})*(?::[0-9]+)?`;
const reference = new RegExp(
  `^(?:${domain}/)?${component}(?:/${component})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][\\w+.-]*:[0-9a-fA-F]{32,})?$`,
);

const imageId = /^[a-f0-9]{64}$/;

/** Names that no registry takes have no tag. Source: github.com/distribution/reference. */
const isReference = (image: string): boolean => reference.test(image) && !imageId.test(image);

/** The tag of an image reference; `latest` when it has neither tag nor digest, '' for a digest alone. */
export function tagOf(image: string): string {
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const colon = name.lastIndexOf(':');
  const hasTag = colon > name.lastIndexOf('/');
  if (hasTag) return name.slice(colon + 1);
  return at < 0 ? 'latest' : '';
}
