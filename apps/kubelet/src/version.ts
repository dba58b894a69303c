/** The Kubernetes version whose behaviour this kubelet has. */
export const kubeletVersion = 'v1.36.3';

export const userAgent = `kubelet/${kubeletVersion} (linux/amd64) tinkernetes`;

export const probeUserAgent = 'kube-probe/1.36';
