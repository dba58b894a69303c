import type { FlowcontrolV1Subject, NonResourcePolicyRule, ResourcePolicyRule } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import { check, eachOf, requireName } from '../../rules';
import type { Errors } from '../../rules';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const subjects = { User: 'user', ServiceAccount: 'serviceAccount', Group: 'group' } as const;
const subjectKinds = Object.keys(subjects) as Array<keyof typeof subjects>;

/** Source: flowcontrol/validation.ValidateFlowSchemaSubject. */
export function validateSubject(subject: FlowcontrolV1Subject, path: string): Errors {
  const kind: string = subject.kind ?? '';
  // The one that the kind asks for first.
  const ordered = [...subjectKinds].sort((a, b) => Number(b === kind) - Number(a === kind));
  const errors = ordered.flatMap((name) => {
    const field = subjects[name];
    const at = child(path, field);
    if (name !== kind)
      return subject[field] === undefined || !(kind in subjects)
        ? []
        : [forbidden(at, `${field} is forbidden when subject kind is not '${name}'`)];
    return subject[field] === undefined
      ? [required(at, `${field} is required when subject kind is '${name}'`)]
      : validateNamed(subject, name, at);
  });
  return kind in subjects
    ? errors
    : [...errors, notSupported(child(path, 'kind'), kind, [...subjectKinds].sort())];
}

function validateNamed(subject: FlowcontrolV1Subject, kind: keyof typeof subjects, path: string): Errors {
  const name = subject[subjects[kind]]?.name;
  if (kind !== 'ServiceAccount') return name ? [] : [required(child(path, 'name'))];
  const { namespace = '' } = subject.serviceAccount ?? {};
  const at = child(path, 'namespace');
  return [
    ...(name === '*' ? [] : requireName(child(path, 'name'), name, isDns1123Subdomain)),
    ...(namespace
      ? check(at, namespace, isDns1123Label)
      : [required(at, 'must specify namespace for service account')]),
  ];
}

function validateVerbs(given: readonly string[] | undefined, path: string): Errors {
  if (!given?.length) return [required(path, 'verbs must contain at least one value')];
  if (given.includes('*'))
    return given.length > 1 ? [invalid(path, given, "if '*' is present, must not specify other verbs")] : [];
  return given.every((verb) => verbs.includes(verb)) ? [] : [notSupported(path, given, verbs)];
}

function validateList(given: readonly string[] | undefined, path: string, what: [string, string]): Errors {
  const [one, many] = what;
  if (!given?.length) return [required(path, `resource rules must supply at least one ${one}`)];
  return given.length > 1 && given.includes('*')
    ? [invalid(path, given, `if '*' is present, must not specify other ${many}`)]
    : [];
}

/** Source: flowcontrol/validation.ValidateFlowSchemaResourcePolicyRule. */
export function validateResourceRule(rule: ResourcePolicyRule, path: string): Errors {
  const at = child(path, 'namespaces');
  const namespaces = rule.namespaces ?? [];
  const needsNamespace = 'resource rules that are not cluster scoped must supply at least one namespace';
  return [
    ...validateVerbs(rule.verbs, child(path, 'verbs')),
    ...validateList(rule.apiGroups, child(path, 'apiGroups'), ['api group', 'api groups']),
    ...validateList(rule.resources, child(path, 'resources'), ['resource', 'resources']),
    ...(namespaces.length === 0 && !rule.clusterScope ? [required(at, needsNamespace)] : []),
    ...(namespaces.includes('*') && namespaces.length > 1
      ? [invalid(at, namespaces, "if '*' is present, must not specify other namespaces")]
      : []),
    ...eachOf(at, namespaces, (name, namePath) =>
      name === '*'
        ? []
        : isDns1123Label(name).map((text) =>
            invalid(namePath, name, `each member of this list must be '*' or a DNS-1123 label; ${text}`),
          ),
    ),
  ];
}

/** Source: flowcontrol/validation.ValidateFlowSchemaNonResourcePolicyRule. */
export function validateNonResourceRule(rule: NonResourcePolicyRule, path: string): Errors {
  const at = child(path, 'nonResourceURLs');
  const urls = rule.nonResourceURLs ?? [];
  return [
    ...validateVerbs(rule.verbs, child(path, 'verbs')),
    ...(urls.length === 0 ? [required(at, 'nonResourceURLs must contain at least one value')] : []),
    ...(urls.includes('*') && urls.length > 1
      ? [invalid(at, urls, "if '*' is present, must not specify other non-resource URLs")]
      : eachOf(at, urls, validateUrl)),
  ];
}

/** Source: flowcontrol/validation.ValidateNonResourceURLPath. */
function validateUrl(url: string, path: string): Errors {
  if (url === '*' || url === '/') return [];
  if (url === '') return [invalid(path, url, 'must not be empty')];
  if (!url.startsWith('/')) return [invalid(path, url, 'must start with slash')];
  if (url.includes(' ')) return [invalid(path, url, 'must not contain white-space')];
  if (url.includes('//')) return [invalid(path, url, 'must not contain double slash')];
  const star = url.indexOf('*');
  return star >= 0 && (star !== url.length - 1 || !url.endsWith('/*'))
    ? [invalid(path, url, 'wildcard can only do suffix matching')]
    : [];
}
