import { isIP } from 'node:net';
import { UsageError } from '@tinkernetes/component-base';
import type { Options } from './options';

type Checked = Pick<
  Options,
  'nodeIPs' | 'clusterDNS' | 'staticPodURL' | 'imageGCHigh' | 'imageGCLow' | 'syncFrequencyMs'
>;

/** A UsageError that names the flag, for values that would have the kubelet go on with something else than was meant. */
export function validateOptions(options: Checked): void {
  const { imageGCHigh, imageGCLow } = options;
  for (const ip of options.nodeIPs) requireAddress('node-ip', ip);
  for (const ip of options.clusterDNS) requireAddress('cluster-dns', ip);
  requireUrl('manifest-url', options.staticPodURL);
  requirePercent('image-gc-high-threshold', imageGCHigh);
  requirePercent('image-gc-low-threshold', imageGCLow);
  if (imageGCLow >= imageGCHigh)
    throw invalid(
      'image-gc-low-threshold',
      imageGCLow,
      `must be less than the high threshold, ${imageGCHigh}`,
    );
  if (options.syncFrequencyMs <= 0)
    throw invalid('sync-frequency', `${options.syncFrequencyMs}ms`, 'must be greater than 0');
}

const invalid = (flag: string, value: string | number, why: string): UsageError =>
  new UsageError(`invalid value "${value}" for --${flag}: ${why}`);

function requireAddress(flag: string, text: string): void {
  if (isIP(text) === 0) throw invalid(flag, text, 'must be an IP address');
}

function requirePercent(flag: string, value: number): void {
  if (value < 0 || value > 100) throw invalid(flag, value, 'must be between 0 and 100');
}

function requireUrl(flag: string, text: string | undefined): void {
  if (text && !/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw invalid(flag, text, 'must be a URL with http:// or https://');
}
