/** The page of endpoints, from the server's OpenAPI document. */

import { EspalierError } from '@espalier/client';
import { useQuery } from '@tanstack/react-query';
import { apiRoot } from '../console-address.ts';
import { Link } from '../router.tsx';
import { InlineMarkdown } from '../ui/text.tsx';
import { QueryResult, Empty } from '../ui/states.tsx';
import { EndpointCard, FieldTable } from './endpoint-card.tsx';
import { listEndpoints, listFields, type OpenApi } from './openapi-model.ts';

async function readOpenApi({ signal }: { signal: AbortSignal }): Promise<OpenApi> {
  try {
    const answer = await fetch(`${apiRoot}openapi.json`, { signal });
    if (answer.ok) return (await answer.json()) as OpenApi;
  } catch (cause) {
    throw new EspalierError('UNREACHABLE', 'The server cannot be reached.', { cause });
  }
  throw new EspalierError('NOT_ESPALIER', 'The server has no description of its endpoints at /openapi.json.');
}

/** `open` is the id of the endpoint in the address. */
export function HttpReference({ open }: { open: string | undefined }) {
  const document = useQuery({ queryKey: ['openapi'], queryFn: readOpenApi, staleTime: Infinity });
  return (
    <QueryResult query={document}>
      {(api) => {
        const endpoints = listEndpoints(api);
        return (
          <div className="api-columns">
            <nav className="api-contents" aria-label="Endpoints">
              {endpoints.map(({ id, method, path }) => (
                <Link key={id} to={`/api/${id}`} aria-current={id === open ? 'location' : undefined}>
                  <span className="api-method">{method}</span> {path}
                </Link>
              ))}
              <a className="api-document" href={`${apiRoot}openapi.json`} target="_blank" rel="noreferrer">
                OpenAPI document
              </a>
            </nav>
            <div className="api-list">
              {open !== undefined && !endpoints.some(({ id }) => id === open) && (
                <Empty icon="search" title={`There is no endpoint “${open}”`} />
              )}
              {endpoints.map((endpoint) => (
                <EndpointCard key={endpoint.id} endpoint={endpoint} isOpen={endpoint.id === open} />
              ))}
              <section className="card" aria-labelledby="api-bodies">
                <h2 id="api-bodies">Bodies</h2>
                {Object.entries(api.components.schemas).map(([name, schema]) => (
                  <details key={name} className="api-details">
                    <summary>
                      <code>{name}</code>{' '}
                      <span className="soft">
                        <InlineMarkdown>{schema.description ?? ''}</InlineMarkdown>
                      </span>
                    </summary>
                    <FieldTable caption={name} fields={listFields(schema)} />
                  </details>
                ))}
              </section>
            </div>
          </div>
        );
      }}
    </QueryResult>
  );
}
