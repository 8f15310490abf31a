/**
 * The one encoding of iconv-lite that bodies of Sluice's own routes may have. The package's tables of all others are a
 * fifth of the engine's text, which V8 keeps in memory. The bundle uses this file instead of the package.
 */
export const encodingExists = (name) => /^utf-?8$/i.test(name);

export function getDecoder() {
  const decoder = new TextDecoder();
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

export const decode = (bytes) => new TextDecoder().decode(bytes);
