import type { Case } from './case.ts'

/** `!include` with a missing target, in a cycle or out of the project, and problems in included files. */
export const includeCases: readonly Case[] = [
  {
    name: 'an include of a file that is missing',
    files: { 'waypost.yml': 'schema: !include resources/scheme.yml\n', 'resources/schema.yml': '{}\n' },
    problems: [
      'waypost.yml:1:9 «!include resources/scheme.yml» WP_DEFINITION_INCLUDE_MISSING File not found: resources/scheme.yml | Did you mean resources/schema.yml?',
    ],
  },
  {
    name: 'an include of a file that is missing, with nothing near it',
    files: { 'waypost.yml': 'schema: !include nowhere/x.yml\n' },
    problems: ['waypost.yml:1:9 «!include nowhere/x.yml» WP_DEFINITION_INCLUDE_MISSING File not found: nowhere/x.yml'],
  },
  {
    name: 'an include that names a file from the root, in a folder',
    files: {
      'waypost.yml': 'schema: !include resources/a.yml\n',
      'resources/a.yml': 'A: !include resources/deep/b.yml#/B\n',
      'resources/deep/b.yml': 'B: { type: object }\n',
    },
    problems: [
      'resources/a.yml:1:4 «!include resources/deep/b.yml#/B» WP_DEFINITION_INCLUDE_MISSING File not found: resources/resources/deep/b.yml | Paths are relative to resources/a.yml; write deep/b.yml#/B < waypost.yml:1:9',
    ],
  },
  {
    name: 'an include of itself',
    files: { 'waypost.yml': 'routes: {}\nschema: !include waypost.yml\n' },
    problems: [
      'waypost.yml:2:9 «!include waypost.yml» WP_DEFINITION_INCLUDE_CYCLE "waypost.yml" includes itself | waypost.yml → waypost.yml',
    ],
  },
  {
    name: 'a circle of three files',
    files: {
      'waypost.yml': 'schema: !include a.yml\n',
      'a.yml': 'A: !include b.yml\n',
      'b.yml': 'type: object\nproperties: !include a.yml\n',
    },
    problems: [
      'b.yml:2:13 «!include a.yml» WP_DEFINITION_INCLUDE_CYCLE "a.yml" includes itself | waypost.yml → a.yml → b.yml → a.yml < a.yml:1:4 < waypost.yml:1:9',
    ],
  },
  {
    name: 'a file that is a part of itself',
    files: { 'waypost.yml': '!include waypost.yml#/schema\n' },
    problems: [
      'waypost.yml:1:1 «!include waypost.yml#/schema» WP_DEFINITION_INCLUDE_CYCLE "waypost.yml#/schema" includes itself | waypost.yml → waypost.yml#/schema < waypost.yml:1:1',
    ],
  },
  {
    name: 'two files that are parts of each other',
    files: {
      'waypost.yml': 'schema: !include a.yml#/x\n',
      'a.yml': '!include b.yml#/y\n',
      'b.yml': '!include a.yml#/z\n',
    },
    problems: [
      'a.yml:1:1 «!include b.yml#/y» WP_DEFINITION_INCLUDE_CYCLE "b.yml#/y" includes itself | a.yml → b.yml#/y < b.yml:1:1 < a.yml:1:1 < waypost.yml:1:9',
    ],
  },
  {
    name: 'a pointer that includes itself',
    files: { 'waypost.yml': 'schema:\n  A: !include waypost.yml#/schema/A\n' },
    problems: [
      'waypost.yml:2:6 «!include waypost.yml#/schema/A» WP_DEFINITION_INCLUDE_CYCLE "waypost.yml#/schema/A" includes itself | waypost.yml → waypost.yml#/schema/A',
    ],
  },
  {
    name: 'a pointer to nowhere',
    files: { 'waypost.yml': 'schema:\n  A: !include s.yml#/Tdo\n', 's.yml': 'Todo: { type: object }\n' },
    problems: [
      'waypost.yml:2:6 «!include s.yml#/Tdo» WP_DEFINITION_INCLUDE_POINTER "/Tdo" does not exist in s.yml | Did you mean "#/Todo"?',
    ],
  },
  {
    name: 'a pointer through a list to nowhere',
    files: { 'waypost.yml': 'schema:\n  A: !include s.yml#/list/2\n', 's.yml': 'list: [true, false]\n' },
    problems: [
      'waypost.yml:2:6 «!include s.yml#/list/2» WP_DEFINITION_INCLUDE_POINTER "/list/2" does not exist in s.yml',
    ],
  },
  {
    name: 'a pointer that is none',
    files: { 'waypost.yml': 'schema:\n  A: !include s.yml#Todo\n', 's.yml': '{}\n' },
    problems: [
      'waypost.yml:2:6 «!include s.yml#Todo» WP_DEFINITION_INCLUDE_INVALID "s.yml#Todo" cannot be included | Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
    ],
  },
  {
    name: 'an include above the project',
    files: { 'waypost.yml': 'schema: !include ../schema.yml\n' },
    problems: [
      'waypost.yml:1:9 «!include ../schema.yml» WP_DEFINITION_INCLUDE_OUTSIDE "../schema.yml" is outside the project | Copy the file into the project: only files in its folder are deployed',
    ],
  },
  {
    name: 'an include by absolute path',
    files: { 'waypost.yml': 'schema: !include /etc/schema.yml\n' },
    problems: [
      'waypost.yml:1:9 «!include /etc/schema.yml» WP_DEFINITION_INCLUDE_OUTSIDE "/etc/schema.yml" is outside the project | Copy the file into the project: only files in its folder are deployed',
    ],
  },
  {
    name: 'an include from the net',
    files: { 'waypost.yml': 'schema: !include https://example.com/schema.yml\n' },
    problems: [
      'waypost.yml:1:9 «!include https://example.com/schema.yml» WP_DEFINITION_INCLUDE_INVALID "https://example.com/schema.yml" cannot be included | Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
    ],
  },
  {
    name: 'an include of another kind of file',
    files: { 'waypost.yml': 'schema: !include schema.txt\n', 'schema.txt': '{}' },
    problems: [
      'waypost.yml:1:9 «!include schema.txt» WP_DEFINITION_INCLUDE_INVALID "schema.txt" cannot be included | Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
    ],
  },
  {
    name: 'an include of a folder',
    files: { 'waypost.yml': 'schema: !include dir.yml\n', 'dir.yml/x': '' },
    problems: ['waypost.yml:1:9 «!include dir.yml» WP_DEFINITION_FILE_REFUSED Cannot read dir.yml: it is a folder'],
  },
  {
    name: 'an include of a map',
    files: { 'waypost.yml': 'schema: !include { file: a.yml }\n' },
    problems: [
      'waypost.yml:1:9 «!include» WP_DEFINITION_INCLUDE_INVALID "{…}" cannot be included | Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
    ],
  },
  {
    name: 'an include of nothing',
    files: { 'waypost.yml': 'schema: !include\n' },
    problems: [
      'waypost.yml:1:9 «!include» WP_DEFINITION_INCLUDE_INVALID "" cannot be included | Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
    ],
  },
  {
    name: 'a problem two includes deep',
    files: {
      'waypost.yml': 'routes: !include r/all.yml\n',
      'r/all.yml': '/a: !include one.yml\n',
      'r/one.yml': 'methods:\n  GET: { public: true, action: src/a.ts, timeot: 3s }\n',
    },
    problems: [
      'r/one.yml:2:42 «timeot» WP_DEFINITION_KEY_UNKNOWN "timeot" is not a valid key of a method | Did you mean "timeout"? < r/all.yml:1:5 < waypost.yml:1:9',
    ],
  },
  {
    name: 'a text where an include was meant',
    files: { 'waypost.yml': 'routes:\n  /a: routes/a.yml\n', 'routes/a.yml': '' },
    problems: [
      'waypost.yml:2:7 «routes/a.yml» WP_DEFINITION_VALUE_INVALID "/a" must be a route, not "routes/a.yml" | To include a file: !include routes/a.yml',
    ],
  },
]
