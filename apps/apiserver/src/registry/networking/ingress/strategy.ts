import { Ingresses } from '@tinkernetes/api';
import type { HTTPIngressPath, Ingress, IngressBackend, IngressSpec } from '@tinkernetes/api';
import {
  child,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isPortName,
  isValidIp,
  isWildcardDns1123Subdomain,
  required,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { ingressHosts, ingressPoints } from '../../../printers/networking';
import { defineStrategy } from '../../define-strategy';
import { validateIngressPoints } from '../../load-balancer-status';
import { check, eachOf, portNumber, requireName } from '../../rules';
import type { Errors } from '../../rules';

function validateBackend(backend: IngressBackend | undefined, path: string): Errors {
  const { service, resource } = backend ?? {};
  if (service && resource) return [invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) {
    return [
      ...((resource.apiGroup ?? undefined) === undefined
        ? []
        : check(child(path, 'resource', 'apiGroup'), resource.apiGroup ?? '', isDns1123Subdomain)),
      ...requireName(child(path, 'resource', 'kind'), resource.kind, isPathSegmentName),
      ...requireName(child(path, 'resource', 'name'), resource.name, isPathSegmentName),
    ];
  }
  if (!service) return [invalid(path, '', 'resource or service backend is required')];
  const errors: Errors = [];
  const at = child(path, 'service');
  if (!service.name) errors.push(required(child(at, 'name')));
  else errors.push(...check(child(at, 'name'), service.name, isDns1123Label));
  const { name, number } = service.port ?? {};
  if (name && number) return [...errors, invalid(path, '', 'cannot set both port name & port number')];
  if (name) return [...errors, ...check(child(at, 'port', 'name'), name, isPortName)];
  return number
    ? [...errors, ...portNumber(child(at, 'port', 'number'), number)]
    : [...errors, required(path, 'port name or number is required')];
}

const badSequences = ['//', '/./', '/../', '%2f', '%2F'];
const badSuffixes = ['/..', '/.'];

function validatePath(entry: HTTPIngressPath, path: string): Errors {
  const errors: Errors = [];
  const at = child(path, 'path');
  const value = entry.path ?? '';
  if (entry.pathType === undefined || entry.pathType === null)
    return [required(child(path, 'pathType'), 'pathType must be specified')];
  if (entry.pathType === 'Exact' || entry.pathType === 'Prefix') {
    if (!value.startsWith('/')) errors.push(invalid(at, value, 'must be an absolute path'));
    if (value !== '') {
      for (const sequence of badSequences) {
        if (value.includes(sequence)) errors.push(invalid(at, value, `must not contain '${sequence}'`));
      }
      for (const suffix of badSuffixes) {
        if (value.endsWith(suffix)) errors.push(invalid(at, value, `cannot end with '${suffix}'`));
      }
    }
  } else if (entry.pathType === 'ImplementationSpecific') {
    if (value !== '' && !value.startsWith('/')) errors.push(invalid(at, value, 'must be an absolute path'));
  } else {
    errors.push({
      reason: 'FieldValueNotSupported',
      field: child(path, 'pathType'),
      message: `Unsupported value: "${String(entry.pathType)}": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
    });
  }
  return [...errors, ...validateBackend(entry.backend, child(path, 'backend'))];
}

function validateHost(host: string, path: string): Errors {
  if (isValidIp(host).length === 0) return [invalid(path, host, 'must be a DNS name, not an IP address')];
  return check(path, host, host.includes('*') ? isWildcardDns1123Subdomain : isDns1123Subdomain);
}

function validate({ spec }: Ingress): Errors {
  const { rules, defaultBackend, tls, ingressClassName }: IngressSpec = spec ?? {};
  const errors: Errors = [];
  if (!rules?.length && !defaultBackend) {
    errors.push(invalid('spec', null, 'either `defaultBackend` or `rules` must be specified'));
  }
  return [
    ...errors,
    ...(defaultBackend ? validateBackend(defaultBackend, 'spec.defaultBackend') : []),
    ...eachOf('spec.rules', rules, (rule, at) => {
      const host = rule.host ? validateHost(rule.host, child(at, 'host')) : [];
      if (!rule.http) return host;
      const paths = child(at, 'http', 'paths');
      return rule.http.paths?.length
        ? [...host, ...eachOf(paths, rule.http.paths, validatePath)]
        : [...host, required(paths)];
    }),
    ...eachOf('spec.tls', tls, (entry, at) => [
      ...eachOf(child(at, 'hosts'), entry.hosts, (host, hostPath) =>
        check(hostPath, host, host.includes('*') ? isWildcardDns1123Subdomain : isDns1123Subdomain),
      ),
      ...(entry.secretName ? check(child(at, 'secretName'), entry.secretName, isDns1123Subdomain) : []),
    ]),
    ...(ingressClassName !== undefined
      ? check('spec.ingressClassName', ingressClassName, isDns1123Subdomain)
      : []),
  ];
}

const classAnnotation = 'kubernetes.io/ingress.class';

/** Source: k8s.io/kubernetes/pkg/registry/networking/ingress. */
export const ingressStrategy = defineStrategy(Ingresses, {
  prepareForCreate: (ingress) => ({ ...ingress, status: { loadBalancer: {} } }),
  validate: (ingress) => {
    const hasBoth =
      ingress.metadata.annotations?.[classAnnotation] !== undefined && ingress.spec?.ingressClassName;
    const detail = 'can not be set when the class field is also set';
    return [
      ...(hasBoth
        ? [invalid(`annotations.${classAnnotation}`, ingress.metadata.annotations?.[classAnnotation], detail)]
        : []),
      ...validate(ingress),
    ];
  },
  validateUpdate: validate,
  validateStatusUpdate: ({ status }) => validateIngressPoints(status?.loadBalancer?.ingress),
  warnings: (ingress) =>
    ingress.metadata.annotations?.[classAnnotation] === undefined
      ? []
      : [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`],
  tableCells: (ingress, now) => [
    ingress.metadata.name,
    ingress.spec?.ingressClassName || '<none>',
    ingressHosts(ingress),
    ingressPoints(ingress),
    ingress.spec?.tls?.length ? '80, 443' : '80',
    age(ingress, now),
  ],
});
