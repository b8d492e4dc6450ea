/** Saves a file on the computer of the user. */

export function saveFile(parts: readonly string[], { name, type }: { name: string; type: string }): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has started to read the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const maxLength = 100;

/** Replaces characters that a file system does not permit, or that hide the extension. */
export function toFileName(text: string): string {
  const safe = text.replace(/[\\/:*?"<>|\p{Cc}\p{Bidi_Control}]|^\./gu, '_').trim();
  return [...safe].slice(0, maxLength).join('') || 'folders';
}
