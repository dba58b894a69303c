/** Fields that a struct has through others which it embeds: the embedded structs' names, and which fields (`!`: all but). */
const embedded: Readonly<Record<string, readonly (readonly [names: string, fields: string])[]>> = {
  ConfigMapEnvSource: [['LocalObjectReference', 'name']],
  ConfigMapKeySelector: [['LocalObjectReference', 'name']],
  ConfigMapProjection: [['LocalObjectReference', 'name']],
  ConfigMapVolumeSource: [['LocalObjectReference', 'name']],
  SecretEnvSource: [['LocalObjectReference', 'name']],
  SecretKeySelector: [['LocalObjectReference', 'name']],
  SecretProjection: [['LocalObjectReference', 'name']],
  DeviceAllocationConfiguration: [['DeviceConfiguration', 'opaque']],
  DeviceClaimConfiguration: [['DeviceConfiguration', 'opaque']],
  DeviceClassConfiguration: [['DeviceConfiguration', 'opaque']],
  EphemeralContainer: [['EphemeralContainerCommon', '!targetContainerName']],
  NamedRuleWithOperations: [
    ['RuleWithOperations', 'operations'],
    ['RuleWithOperations.Rule', 'apiGroups apiVersions resources scope'],
  ],
  PersistentVolumeSpec: [
    [
      'PersistentVolumeSource',
      '!accessModes capacity claimRef mountOptions nodeAffinity persistentVolumeReclaimPolicy storageClassName volumeAttributesClassName volumeMode',
    ],
  ],
  Probe: [['ProbeHandler', 'exec grpc httpGet tcpSocket']],
  RuleWithOperations: [['Rule', 'apiGroups apiVersions resources scope']],
  Volume: [['VolumeSource', '!name']],
};

/**
 * A field as encoding/json names it on the way to what doesn't fit: after the structs whose embedding gives it to its own.
 * Source: the structs of k8s.io/api.
 */
export function pathOfField(struct: string, field: string): string {
  const found = (embedded[struct] ?? []).find(([, fields]) => {
    const isAllBut = fields.startsWith('!');
    return (
      fields
        .slice(isAllBut ? 1 : 0)
        .split(' ')
        .includes(field) !== isAllBut
    );
  });
  return found ? `${found[0]}.${field}` : field;
}
