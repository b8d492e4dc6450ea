/** `fetch` with a limit for responses, because the libraries for OpenID Connect read every response into memory as a whole. */

/** Much more than the largest documents and the claims of a person in thousands of groups. */
const maxResponseBytes = 1024 * 1024;

/** Fails while the body is read if it is larger than `maxResponseBytes`. */
export async function limitedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options);
  if (!response.body) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxResponseBytes) throw new Error('The response is too large.');
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(limit), response);
}
