/** What a floor does with a request: the part of it in which they differ. */

/** What is answered to a body. */
export type Respond = (body: Buffer) => string | Promise<string>;
