import { validateOptions } from './validate-options';

const valid: Parameters<typeof validateOptions>[0] = {
  nodeIPs: ['172.30.0.11', 'fd00::1'],
  clusterDNS: ['10.96.0.10'],
  staticPodURL: 'http://127.0.0.1:8080/pods',
  imageGCHigh: 85,
  imageGCLow: 80,
  syncFrequencyMs: 20_000,
};

it.each<[string, Partial<typeof valid>]>([
  ['what it has by default', { staticPodURL: undefined }],
  ['an empty URL, which is none', { staticPodURL: '' }],
  ['image thresholds at the ends', { imageGCHigh: 100, imageGCLow: 0 }],
  ['no DNS', { clusterDNS: [] }],
])('takes %s', (_, options) => {
  expect(() => validateOptions({ ...valid, ...options })).not.toThrow();
});

it.each<[string, Partial<typeof valid>]>([
  ['invalid value "node-1" for --node-ip: must be an IP address', { nodeIPs: ['172.30.0.11', 'node-1'] }],
  ['invalid value "10.96.0" for --cluster-dns: must be an IP address', { clusterDNS: ['10.96.0'] }],
  [
    'invalid value "ftp://pods" for --manifest-url: must be a URL with http:// or https://',
    { staticPodURL: 'ftp://pods' },
  ],
  [
    'invalid value "pods" for --manifest-url: must be a URL with http:// or https://',
    { staticPodURL: 'pods' },
  ],
  ['invalid value "101" for --image-gc-high-threshold: must be between 0 and 100', { imageGCHigh: 101 }],
  ['invalid value "-1" for --image-gc-low-threshold: must be between 0 and 100', { imageGCLow: -1 }],
  [
    'invalid value "90" for --image-gc-low-threshold: must be less than the high threshold, 85',
    { imageGCLow: 90 },
  ],
  ['invalid value "-5000ms" for --sync-frequency: must be greater than 0', { syncFrequencyMs: -5000 }],
])('says %s', (message, options) => {
  expect(() => validateOptions({ ...valid, ...options })).toThrow(message);
});
