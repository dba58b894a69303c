import type { Volume } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  required,
} from '@tinkernetes/apimachinery';
import { check, eachOf, requireValue } from '../rules';
import type { Errors } from '../rules';
import { sharedSourceRules, type SourceName, type SourceRules } from './volume-sources';

/** The volumes that are right, by name, and what is wrong with the others. Source: core/validation.ValidateVolumes. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  path: string,
  podName: string | undefined,
): { byName: Map<string, Volume>; errors: Errors } {
  const byName = new Map<string, Volume>();
  const errors = eachOf(path, volumes, (volume, at) => {
    const own = validateSource(volume, at);
    const source = sourcesOf(volume)[0];
    // Templates may leave the image to others.
    if (source === 'image' && podName !== undefined)
      own.unshift(...requireValue(child(at, 'image', 'reference'), volume.image?.reference));
    if (source === 'iscsi') own.push(...validateIscsiNames(volume, at));
    // A Pod that has its name already (no template) must be able to name the claim.
    if (source === 'ephemeral' && volume.name && podName) {
      const claim = `${podName}-${volume.name}`;
      own.push(
        ...isDns1123Subdomain(claim).map((text) =>
          invalid(child(at, 'name'), volume.name, `PVC name ${JSON.stringify(claim)}: ${text}`),
        ),
      );
    }
    if (!volume.name) own.push(required(child(at, 'name')));
    else own.push(...check(child(at, 'name'), volume.name, isDns1123Label));
    if (byName.has(volume.name)) own.push(duplicate(child(at, 'name'), volume.name));
    if (own.length === 0) byName.set(volume.name, volume);
    return own;
  });
  return { byName, errors };
}

/** How upstream's messages name some of them. */
const misspelt: { [K in SourceName]?: string } = {
  cephfs: 'cephFS',
  downwardAPI: 'downwarAPI',
};

function validateIscsiNames({ name, iscsi }: Volume, path: string): Errors {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= 64) return [];
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(child(path, 'name'), name, detail)];
}

const sourcesOf = (volume: Volume): SourceName[] =>
  (Object.keys(sharedSourceRules) as SourceName[]).filter((name) => volume[name] !== undefined);

function validateSource(volume: Volume, path: string): Errors {
  const names = sourcesOf(volume);
  if (names.length === 0) return [required(path, 'must specify a volume type')];
  return names.flatMap((name, i) => {
    const at = child(path, name);
    if (i > 0)
      return [forbidden(child(path, misspelt[name] ?? name), 'may not specify more than 1 volume type')];
    const rule = (sharedSourceRules as SourceRules)[name] as (source: unknown, path: string) => Errors;
    return rule(volume[name], at);
  });
}
