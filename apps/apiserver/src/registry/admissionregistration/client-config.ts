import type { WebhookClientConfig } from '@tinkernetes/api';
import { child, invalid, isDns1123Subdomain, isPortNumber, required } from '@tinkernetes/apimachinery';
import { requireValue } from '../rules';
import type { Errors } from '../rules';

/** Where a webhook is: at a URL or behind a Service. */
export function validateClientConfig(config: WebhookClientConfig | undefined, path: string): Errors {
  const { url, service } = config ?? {};
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  if (service) {
    const at = child(path, 'service');
    const route = service.path;
    return [
      // Upstream names the one field where it misses the other.
      ...requireValue(child(at, 'namespace'), service.name),
      ...requireValue(child(at, 'name'), service.namespace),
      ...isPortNumber(service.port ?? 443).map((text) =>
        invalid(child(at, 'port'), service.port, `port is not valid: ${text}`),
      ),
      ...validatePath(route ?? '', child(at, 'path')),
    ];
  }
  return validateUrl(url ?? '', child(path, 'url'));
}

/** Source: apiserver/pkg/util/webhook.ValidateWebhookService. */
function validatePath(route: string, path: string): Errors {
  if (route === '' || route === '/') return [];
  const errors: Errors = route.startsWith('/') ? [] : [invalid(path, route, "must start with a '/'")];
  // Upstream looks past the first character, whatever that is.
  const segments = route.slice(1).split('/');
  // A slash at the end is no segment of its own.
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  segments.forEach((segment, i) => {
    if (segment === '') errors.push(invalid(path, route, `segment[${i}] may not be empty`));
    else
      errors.push(
        ...isDns1123Subdomain(segment).map((text) => invalid(path, route, `segment[${i}]: ${text}`)),
      );
  });
  return errors;
}

const form = 'desired format: https://host[/path]';

/** Source: apiserver/pkg/util/webhook.ValidateWebhookURL. */
function validateUrl(text: string, path: string): Errors {
  // A bare path is a URL to Go, of no scheme and no host.
  if (/^[^:?#]*$/.test(text) && !text.startsWith('//')) {
    return [
      invalid(path, '', `'https' is the only allowed URL scheme; ${form}`),
      invalid(path, '', `host must be specified; ${form}`),
    ];
  }
  if (!URL.canParse(text)) {
    return [required(path, `url must be a valid URL: parse "${text}": invalid URI for request; ${form}`)];
  }
  const url = new URL(text);
  const errors: Errors = [];
  const scheme = url.protocol.replace(':', '');
  if (scheme !== 'https')
    errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme; ${form}`));
  if (url.host === '') errors.push(invalid(path, url.host, `host must be specified; ${form}`));
  if (url.username !== '' || url.password !== '')
    errors.push(invalid(path, userOf(url), 'user information is not permitted in the URL'));
  if (url.hash !== '')
    errors.push(invalid(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '')
    errors.push(invalid(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}

const userOf = ({ username, password }: URL): string =>
  password === '' ? username : `${username}:${password}`;
