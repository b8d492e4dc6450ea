/** How long the texts of a folder may be, as the schema says it wherever they are given; it checks nothing. */

export const aboutGivenTexts = {
  name: '1 to 255 characters, without slashes and control characters',
  title: 'At most 255 characters.',
  icon: 'At most 255 characters.',
  description: 'At most 10,000 characters.',
  properties: 'A JSON object of at most 16 KiB.',
} as const;
