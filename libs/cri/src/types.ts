/** What a caller may leave out: absent fields take proto3's default. */
export type DeepPartial<T> = T extends Buffer | string | number | boolean | null
  ? T
  : T extends Array<infer Item>
    ? ReadonlyArray<DeepPartial<Item>>
    : { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined };

/** A service's method table, as generated: `RuntimeServiceMethods`, `ImageServiceMethods`. */
export interface MethodTypes {
  request: object;
  response: object;
  serverStreaming: boolean;
}
export type ServiceMethods<M> = { [K in keyof M]: MethodTypes };
