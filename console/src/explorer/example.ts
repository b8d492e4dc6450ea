/** The type of the explorer's examples, and the code that fills in ids from the viewer's data. */

export interface Example {
  readonly id: string;
  readonly label: string;
  readonly group: ExampleGroup;
  readonly document: string;
  /** Creates the variables from ids that the viewer can see. */
  readonly variables?: (ids: ExampleIds) => object;
  readonly forAdministrators?: true;
}

export type ExampleGroup = 'Read' | 'Change' | 'Follow' | 'Administrators';

export const exampleGroups: readonly ExampleGroup[] = ['Read', 'Change', 'Follow', 'Administrators'];

/** Ids for the variables of examples. An id is empty if the viewer has no such folder. */
export interface ExampleIds {
  readonly userId: string;
  readonly rootId: string;
  /** The first two folders below the root. */
  readonly folderId: string;
  readonly otherFolderId: string;
}

export const exampleIdsDocument = /* GraphQL */ `
  query ExplorerExamples {
    viewer {
      user {
        id
      }
    }
    folder {
      id
      folders(first: 2) {
        items {
          id
        }
      }
    }
  }
`;

export interface ExampleIdsResponse {
  readonly viewer: { readonly user: { readonly id: string } };
  readonly folder: {
    readonly id: string;
    readonly folders: { readonly items: readonly { readonly id: string }[] };
  };
}

export function readExampleIds(answer: ExampleIdsResponse | undefined): ExampleIds {
  const [first, second] = answer?.folder.folders.items ?? [];
  return {
    userId: answer?.viewer.user.id ?? '',
    rootId: answer?.folder.id ?? '',
    folderId: first?.id ?? '',
    otherFolderId: second?.id ?? '',
  };
}

/** Returns the texts for the editors. */
export function formatExample(
  { document, variables }: Example,
  ids: ExampleIds,
): { query: string; variables: string } {
  const lines = document.trim().split('\n');
  const indent = Math.min(...lines.slice(1).map((line) => line.search(/\S/)));
  return {
    query: [lines[0], ...lines.slice(1).map((line) => line.slice(indent))].join('\n') + '\n',
    variables: variables ? JSON.stringify(variables(ids), null, 2) : '',
  };
}
