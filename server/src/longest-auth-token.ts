/** How long an auth token may live at most: what its setting takes, and what everything that outlives tokens goes by. */

export const longestAuthTokenSeconds = 86_400;
