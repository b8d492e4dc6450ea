/** Queries that never come twice, against graphql-js that parses, validates and executes each. */

import { plantEstate, reads } from './estate.ts';
import { numberMark } from './volley.ts';
import { meet } from './meeting.ts';
import { OurServer } from './our-server.ts';
import type { Field, Race } from './race.ts';

const unique: Race = {
  name: 'unique',
  about: 'a folder and its 10 sub-folders by name, each text once',
  floor: 'graphql-js parse, validate, execute over objects in memory, behind raw node:http',
  atLeast: 0.7,
  aim: 0.9,
};

const requests = 800;

export const uniqueField: Field = {
  name: 'unique queries',
  entries: [unique],
  async *run(_, course) {
    const server = await OurServer.start(course);
    try {
      const estate = await plantEstate(server, 1);
      const { query } = reads.find(({ name }) => name === 'children')!;
      // One alias is another each time, and the answer holds it.
      const text = query(estate).replace('{folder{name', `{folder{name_${numberMark}:name`);
      const asked = await server.graphRequest({ query: text });
      yield await meet(
        unique,
        {
          server,
          asked,
          requests,
          varied: { isNumbered: true },
          toFloor: (answer) => ({ kind: 'unique', answer }),
        },
        course,
      );
    } finally {
      await server.stop();
    }
  },
};
