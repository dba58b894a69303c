/** The text with U+FFFD for each half of a character, as Go's decoder leaves it: nobody can write these as UTF-8. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** Whether halves of characters are written as escapes: V8 takes one without the other, where Go replaces it. */
export const hasSurrogates = (text: string): boolean => /\\u[dD][89a-fA-F]/.test(text);
