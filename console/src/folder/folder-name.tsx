/** A folder of which only the id is known, as a link with its name. */

import { useGraph } from '../graph/use-graph.ts';
import { Link } from '../router.tsx';

const nameDocument = /* GraphQL */ `
  query FolderName($id: ID!) {
    folder(id: $id) {
      title
    }
  }
`;

export function FolderName({ id }: { id: string | null }) {
  const { data, isPending } = useGraph<{ folder: { title: string } | null }>(
    ['folder', id, 'name'],
    nameDocument,
    { id },
    { enabled: id !== null },
  );
  if (id !== null && isPending) return <span className="soft">…</span>;
  if (!data?.folder) return <span className="soft">a folder that is gone</span>;
  return <Link to={`/folders/${id}`}>{data.folder.title}</Link>;
}
