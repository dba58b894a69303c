/** What `load` gives, loaded when first asked for; after a failure the next who asks has it tried again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  const forget = (error: unknown): never => {
    loaded = undefined;
    throw error;
  };
  return () => (loaded ??= load().catch(forget));
}
