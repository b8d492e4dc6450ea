/** Where the endpoints are, below the API root: the part of the contract that a client needs at run time. */

export const paths = {
  login: '/login',
  refresh: '/login/refresh',
  logout: '/logout',
  verify: '/login/verify',
  graph: '/graphql',
} as const;

export type Path = (typeof paths)[keyof typeof paths];
