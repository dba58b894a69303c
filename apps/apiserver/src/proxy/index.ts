import type { CreateSubresourceHandlers } from '../contracts';

/** What is passed on to kubelets, Pods and Services. */
export const createProxyHandlers: CreateSubresourceHandlers = () => new Map();
