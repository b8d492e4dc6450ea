/** A generated page as it stands in the repository. */

import { format } from 'prettier';

export async function formatPage(path: string, written: string): Promise<string> {
  return path.endsWith('.md') ? format(written, { parser: 'markdown' }) : written;
}
