import type { WebhookClientConfig } from '@tinkernetes/api';
import { child, invalid, required } from '@tinkernetes/apimachinery';
import { portNumber, requireValue } from '../rules';
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
      ...requireValue(child(at, 'name'), service.name),
      ...requireValue(child(at, 'namespace'), service.namespace),
      ...(route !== undefined && !route.startsWith('/')
        ? [invalid(child(at, 'path'), route, "must start with a '/'")]
        : []),
      ...portNumber(child(at, 'port'), service.port ?? 443),
    ];
  }
  return validateUrl(url ?? '', child(path, 'url'));
}

const form = 'desired format: https://host[/path]';

/** Source: apiserver/pkg/util/webhook.ValidateWebhookURL. */
function validateUrl(text: string, path: string): Errors {
  if (!URL.canParse(text)) {
    return [required(path, `url must be a valid URL: parse "${text}": invalid URI for request; ${form}`)];
  }
  const url = new URL(text);
  const errors: Errors = [];
  const scheme = url.protocol.replace(':', '');
  if (scheme !== 'https')
    errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme; ${form}`));
  if (url.host === '') errors.push(invalid(path, url.host, `host must be specified; ${form}`));
  if (url.username !== '')
    errors.push(invalid(path, url.username, 'user information is not permitted in the URL'));
  if (url.hash !== '')
    errors.push(invalid(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '')
    errors.push(invalid(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}
