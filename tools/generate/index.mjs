// Regenerates everything that is derived from the interface facts: `npm run generate`.
import { generateApi } from './api.mjs';
import { generateCriDescriptor } from './cri-descriptor.mjs';
import { generateCriProto } from './cri-proto.mjs';
import { generateCsiDescriptor } from './csi-descriptor.mjs';
import { generateKubeletDescriptors } from './kubelet-descriptors.mjs';
import { generateEtcdDescriptor } from './etcd-descriptor.mjs';
import { generateVnetDescriptor } from './vnet-descriptor.mjs';

generateApi();
generateCriProto();
generateCriDescriptor();
generateVnetDescriptor();
generateCsiDescriptor();
generateKubeletDescriptors();
generateEtcdDescriptor();
