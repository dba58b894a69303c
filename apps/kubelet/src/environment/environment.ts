import type {
  ConfigMap,
  Container,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  Node,
  Pod,
  Secret,
  Service,
} from '@tinkernetes/api';
import { EnvFileError, valueInEnvFile } from './env-file';
import { expand } from './expansion';
import { fieldValue, resourceValue, type PodAddresses } from './field-ref';
import { serviceEnvironment, visibleServices } from './service-env';

/** Objects that a Pod refers to; undefined when they don't exist. */
export interface ObjectSource {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
}

export interface EnvironmentContext {
  objects: ObjectSource;
  services: readonly Service[];
  node: Node | undefined;
  addresses: PodAddresses;
  /** The text of a file in one of the Pod's volumes; undefined: there is none. */
  volumeFile(volume: string, path: string): Promise<string | undefined>;
}

/** The container can't be configured: reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

export type Environment = Map<string, string>;

/**
 * A container's environment: `envFrom` in order, then `env` in order (later values may refer to earlier ones), then
 * the service variables that nothing has set. Source: pkg/kubelet makeEnvironmentVariables.
 */
export async function makeEnvironment(
  pod: Pod,
  container: Container,
  context: EnvironmentContext,
): Promise<Environment> {
  const namespace = pod.metadata.namespace ?? '';
  const links = serviceEnvironment(
    visibleServices(context.services, namespace, pod.spec.enableServiceLinks ?? true),
  );
  const env: Environment = new Map();
  for (const [name, value] of await importedVariables(namespace, container, context.objects))
    env.set(name, value);
  const lookup = (name: string) => env.get(name) ?? links.get(name);
  for (const variable of container.env ?? []) {
    const value = await variableValue(variable, { pod, container, context, lookup });
    if (value !== undefined) env.set(variable.name, value);
  }
  for (const [name, value] of links) if (!env.has(name)) env.set(name, value);
  return env;
}

async function importedVariables(
  namespace: string,
  container: Container,
  objects: ObjectSource,
): Promise<Array<[string, string]>> {
  const out: Array<[string, string]> = [];
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    let data: Record<string, string> = {};
    if (configMapRef) {
      const found = await objects.configMap(namespace, configMapRef.name ?? '');
      if (!found && !configMapRef.optional) {
        throw new ContainerConfigError(`configmap "${configMapRef.name}" not found`);
      }
      data = found?.data ?? {};
    } else if (secretRef) {
      const found = await objects.secret(namespace, secretRef.name ?? '');
      if (!found && !secretRef.optional) {
        throw new ContainerConfigError(`secret "${secretRef.name}" not found`);
      }
      data = decodeSecret(found);
    }
    for (const key of Object.keys(data).sort()) out.push([prefix + key, data[key] ?? '']);
  }
  return out;
}

const decodeSecret = (secret: Secret | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );

interface VariableContext {
  pod: Pod;
  container: Container;
  context: EnvironmentContext;
  lookup: (name: string) => string | undefined;
}

/** undefined: an optional reference to something that isn't there, so the variable is not set. */
async function variableValue(variable: EnvVar, at: VariableContext): Promise<string | undefined> {
  if (!variable.valueFrom) return expand(variable.value ?? '', at.lookup);
  return referredValue(variable.valueFrom, at);
}

async function referredValue(
  { configMapKeyRef, secretKeyRef, fieldRef, fileKeyRef, resourceFieldRef }: EnvVarSource,
  { pod, container, context }: VariableContext,
): Promise<string | undefined> {
  const namespace = pod.metadata.namespace ?? '';
  if (fieldRef) return fieldValue(pod, fieldRef.fieldPath, context.addresses);
  if (resourceFieldRef) return resourceValue(pod, container, resourceFieldRef, context.node);
  if (configMapKeyRef) {
    const { name = '', key, optional } = configMapKeyRef;
    const found = await context.objects.configMap(namespace, name);
    if (!found && !optional) throw new ContainerConfigError(`configmap "${name}" not found`);
    const value = found?.data?.[key];
    if (value === undefined && !optional) {
      throw new ContainerConfigError(`couldn't find key ${key} in ConfigMap ${namespace}/${name}`);
    }
    return value;
  }
  if (secretKeyRef) {
    const { name = '', key, optional } = secretKeyRef;
    const found = await context.objects.secret(namespace, name);
    if (!found && !optional) throw new ContainerConfigError(`secret "${name}" not found`);
    const value = found?.data?.[key];
    if (value === undefined && !optional) {
      throw new ContainerConfigError(`couldn't find key ${key} in Secret ${namespace}/${name}`);
    }
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  }
  if (fileKeyRef) return fileValue(fileKeyRef, context);
  throw new ContainerConfigError('environment variable has a valueFrom of an unknown kind');
}

/** Source: KEP-3721. */
async function fileValue(
  { volumeName, path, key, optional }: FileKeySelector,
  { volumeFile }: EnvironmentContext,
): Promise<string | undefined> {
  const text = await volumeFile(volumeName, path);
  if (text === undefined && !optional)
    throw new ContainerConfigError(
      `failed to open environment variable file "${path}" of volume "${volumeName}": no such file or directory`,
    );
  try {
    const value = valueInEnvFile(text ?? '', key) ?? '';
    if (value === '' && !optional)
      throw new ContainerConfigError(`environment variable key "${key}" not found in file "${path}"`);
    return value === '' ? undefined : value;
  } catch (error) {
    if (!(error instanceof EnvFileError)) throw error;
    throw new ContainerConfigError(`couldn't parse env file "${path}": ${error.message}`, { cause: error });
  }
}
