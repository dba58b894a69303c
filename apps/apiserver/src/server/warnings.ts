import type { ServerResponse } from 'node:http';

/** More characters than these in all, and each warning is cut. */
const mostInAll = 4096;
const mostOfOne = 256;

/**
 * The Warning headers of one answer: each text once; texts that no header can carry are left out, and very many are
 * cut. Source: k8s.io/apiserver/pkg/endpoints/filters/warning.go.
 */
export class Warnings {
  private readonly texts = new Set<string>();
  private written = 0;
  private cutting = false;

  constructor(private readonly response: ServerResponse) {}

  add(text: string): void {
    if (text === '' || this.texts.has(text) || this.response.headersSent) return;
    if (this.cutting && this.written >= mostInAll) return;
    this.texts.add(text);
    if (!this.cutting && this.written + lengthOf(text) > mostInAll) this.startOver();
    else this.write(text);
  }

  private startOver(): void {
    this.cutting = true;
    this.written = 0;
    this.response.removeHeader('Warning');
    for (const text of this.texts) this.write(text);
  }

  private write(text: string): void {
    const shown = this.cutting ? [...text].slice(0, mostOfOne).join('') : text;
    if (/\p{Cc}/u.test(shown) || !isWellFormed(shown)) return;
    this.written += lengthOf(shown);
    // RFC 7234: warn-code, warn-agent, quoted warn-text; header bytes are UTF-8, which Node takes as Latin-1.
    const quoted = shown.replace(/[\\"]/g, '\\$&');
    this.response.appendHeader('Warning', `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`);
  }
}

const lengthOf = (text: string): number => [...text].length;

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);
