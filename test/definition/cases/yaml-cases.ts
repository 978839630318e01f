import type { Case } from './case.ts'

const emptyHint = 'Write at least "routes:", or generate a first route: waypost generate:route METHOD PATH'

/** Problems found by the YAML parser or directly after it. */
export const yamlCases: readonly Case[] = [
  {
    name: 'a missing waypost.yml',
    files: {},
    problems: [
      "waypost.yml:1:1 «» WP_DEFINITION_FILE_MISSING There is no waypost.yml in this folder | Change to the project's folder, or create a project: waypost init DIR",
    ],
  },
  {
    name: 'waypost.yaml instead of waypost.yml',
    files: { 'waypost.yaml': 'routes: {}\n' },
    problems: [
      'waypost.yml:1:1 «» WP_DEFINITION_FILE_MISSING There is no waypost.yml in this folder | Rename waypost.yaml to waypost.yml',
    ],
  },
  ...['', '\n', '# routes:\n'].map((text) => ({
    name: `a waypost.yml that says nothing: ${JSON.stringify(text)}`,
    files: { 'waypost.yml': text },
    problems: [`waypost.yml:1:1 «» WP_DEFINITION_EMPTY waypost.yml is empty | ${emptyHint}`],
  })),
  {
    name: 'a waypost.yml that is a list',
    files: { 'waypost.yml': '- a\n' },
    problems: [
      'waypost.yml:1:1 «- a» WP_DEFINITION_VALUE_INVALID waypost.yml must be a map, not a list | Begin with "routes:"',
    ],
  },
  {
    name: 'a tab as indentation',
    files: { 'waypost.yml': 'routes:\n\t/a: 1\n' },
    problems: ['waypost.yml:2:1 «\t» WP_DEFINITION_YAML Tabs are not allowed for indentation | Indent with spaces'],
  },
  {
    name: 'a bracket that is not closed',
    files: { 'waypost.yml': 'plugins: [a, b\nroutes: {}\n' },
    problems: [
      'waypost.yml:1:10 «[» WP_DEFINITION_YAML A closing bracket is missing | Close every { with } and every [ with ]',
    ],
  },
  {
    name: 'a quoted text whose lines are not indented',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        description: "first line\nsecond line"\n        public: true\n        action: a.ts\n',
      'a.ts': '',
    },
    problems: [
      'waypost.yml:5:22 «"» WP_DEFINITION_YAML The lines of this quoted text are not indented | Indent its other lines more than the key, or write the text on one line',
    ],
  },
  {
    name: 'a quote that is not closed',
    files: { 'waypost.yml': 'routes: {}\nplugins: ["a]\n' },
    problems: [
      'waypost.yml:2:11 «"» WP_DEFINITION_YAML The closing quote is missing | Close the quote that begins here',
    ],
  },
  {
    name: 'a colon in an unquoted text',
    files: { 'waypost.yml': 'event:\n  a:\n    description: Note: important\n' },
    problems: [
      'waypost.yml:3:18 «N» WP_DEFINITION_YAML This line contains a second ": " | Quote text that contains ": ", or put a nested map on its own lines',
    ],
  },
  {
    name: 'a key without a colon',
    files: { 'waypost.yml': 'routes\nschema: {}\n' },
    problems: [
      'waypost.yml:1:1 «routes» WP_DEFINITION_YAML A ":" is missing after the key | Write KEY: VALUE, and "- " before each item of a list',
    ],
  },
  {
    name: 'keys of one map in different columns',
    files: { 'waypost.yml': 'event:\n  a: {}\n b: {}\n' },
    problems: [
      'waypost.yml:3:2 «b» WP_DEFINITION_YAML This line is not indented like the lines around it | Align all keys of a map and all items of a list',
    ],
  },
  {
    name: 'a reserved character at the beginning of a text',
    files: { 'waypost.yml': 'plugins:\n  - @acme/plugin\n' },
    problems: [
      'waypost.yml:2:5 «@» WP_DEFINITION_YAML Unquoted text cannot begin with this character | Quote the text',
    ],
  },
  {
    name: 'two documents in one file',
    files: { 'waypost.yml': 'routes: {}\n---\nschema: {}\n' },
    problems: [
      'waypost.yml:2:1 «---» WP_DEFINITION_YAML The file contains more than one document | Remove the line "---", or split the file',
    ],
  },
  {
    name: 'an unquoted variable in a flow map',
    files: { 'waypost.yml': 'connection:\n  Db: { class: postgresql, config: { url: ${env.DB_URL} } }\n' },
    problems: [
      'waypost.yml:2:43 «${env.DB_URL}» WP_DEFINITION_YAML "${env.DB_URL}" must be quoted between { and } or [ and ] | Quote it: "${env.DB_URL}"',
    ],
  },
  {
    name: 'an unquoted variable in a flow list',
    files: { 'waypost.yml': 'config:\n  cors: [${env.ORIGIN}]\n' },
    problems: [
      'waypost.yml:2:10 «${env.ORIGIN}» WP_DEFINITION_YAML "${env.ORIGIN}" must be quoted between { and } or [ and ] | Quote it: "${env.ORIGIN}"',
    ],
  },
  {
    name: 'a key that stands twice',
    files: { 'waypost.yml': 'scope:\n  a: {}\n  b: {}\n  a: {}\n' },
    problems: [
      'waypost.yml:4:3 «a» WP_DEFINITION_KEY_DUPLICATE Duplicate key "a" | It is first defined at waypost.yml:2. Remove one of the two',
    ],
  },
  {
    name: 'a key that is a map',
    files: { 'waypost.yml': 'event:\n  ? { x: 1 }\n  : {}\n' },
    problems: ['waypost.yml:2:3 «?» WP_DEFINITION_KEY_INVALID A key must be a string | Quote the key'],
  },
  {
    name: 'an unknown tag',
    files: { 'waypost.yml': 'schema: !inclued schema.yml\n' },
    problems: [
      'waypost.yml:1:9 «!inclued» WP_DEFINITION_TAG_UNKNOWN Unknown tag "!inclued" | Did you mean "!include"?',
    ],
  },
  {
    name: 'a tag of another YAML',
    files: { 'waypost.yml': 'event: !!set { a }\n' },
    problems: [
      'waypost.yml:1:8 «!!set» WP_DEFINITION_TAG_UNKNOWN Unknown tag "!!set" | The only tag is !include FILE. Quote text that begins with "!"',
    ],
  },
  {
    name: 'an alias without an anchor',
    files: { 'waypost.yml': 'event:\n  a: *base\n' },
    problems: [
      'waypost.yml:2:6 «*base» WP_DEFINITION_ALIAS_UNKNOWN The anchor "base" is not defined before this alias | Define it with &base, or quote text that begins with "*"',
    ],
  },
  {
    name: 'an alias of what is around it',
    files: { 'waypost.yml': 'event: &e\n  a: *e\n' },
    problems: ['waypost.yml:2:6 «*e» WP_DEFINITION_INCLUDE_CYCLE "*e" includes itself | waypost.yml → *e'],
  },
  {
    name: 'a number that JSON does not have',
    files: { 'waypost.yml': 'rate:\n  r: { limit: .inf, window: 1m }\n' },
    problems: ['waypost.yml:2:15 «.inf» WP_DEFINITION_VALUE_INVALID ".inf" is not a number that JSON can represent'],
  },
  {
    name: 'problems in two files at once',
    files: {
      'waypost.yml': 'schema: !include schema.yml\nevent: !include event.yml\n',
      'schema.yml': 'A: [\n',
      'event.yml': 'a: b: c\n',
    },
    problems: [
      'schema.yml:1:4 «[» WP_DEFINITION_YAML A closing bracket is missing | Close every { with } and every [ with ] < waypost.yml:1:9',
      'event.yml:1:4 «b» WP_DEFINITION_YAML This line contains a second ": " | Quote text that contains ": ", or put a nested map on its own lines < waypost.yml:2:8',
    ],
  },
  {
    name: 'an included JSON file with a comma too many',
    files: { 'waypost.yml': 'schema:\n  A: !include a.json\n', 'a.json': '{\n  "type": "object",\n}\n' },
    problems: ['a.json:3:1 «}» WP_DEFINITION_JSON Expected double-quoted property name < waypost.yml:2:6'],
  },
  {
    name: 'an included JSON file that ends too early',
    files: { 'waypost.yml': 'schema:\n  A: !include a.json\n', 'a.json': '{ "type": "object"\n' },
    problems: ["a.json:2:1 «» WP_DEFINITION_JSON Expected ',' or '}' after property value < waypost.yml:2:6"],
  },
  {
    name: 'a comma in a text that is not quoted, between { and }',
    files: {
      'waypost.yml': `routes:
scope: { a: { description: Reads, writes, and more } }
event: { e: { description: One, two, schema: A, scopes: [a] } }
config: { scopes_default: consumer, todo, cors: [] }
schema: { A: { type: object, description: Red,
   green or blue }, B: { enum: [1, 2], default: 1, 2 or 3, title: B } }
`,
    },
    problems: [
      'waypost.yml:2:35 «writes» WP_DEFINITION_KEY_UNKNOWN "writes" is not a valid key of a scope | A comma ends an unquoted text between { and }. Quote it: "Reads, writes, and more"',
      'waypost.yml:3:33 «two» WP_DEFINITION_KEY_UNKNOWN "two" is not a valid key of an event | A comma ends an unquoted text between { and }. Quote it: "One, two"',
      'waypost.yml:4:37 «todo» WP_DEFINITION_SETTING_INVALID Unknown setting "todo" | A comma ends an unquoted text between { and }. Quote it: "consumer, todo"',
      'waypost.yml:6:4 «green or blue» WP_DEFINITION_SCHEMA_INVALID "green or blue" is not a valid key of a JSON Schema | A comma ends an unquoted text between { and }. Quote it: "Red, green or blue"',
      'waypost.yml:6:52 «2 or 3» WP_DEFINITION_SCHEMA_INVALID "2 or 3" is not a valid key of a JSON Schema | A comma ends an unquoted text between { and }. Quote it: "1, 2 or 3"',
    ],
  },
  {
    name: 'a key without a value that is no rest of a text',
    files: { 'waypost.yml': 'schema: { A: { type: "string", titel }, B: { minLength: 1, type: string, titel: x } }\n' },
    problems: [
      'waypost.yml:1:32 «titel» WP_DEFINITION_SCHEMA_INVALID "titel" is not a valid key of a JSON Schema | Did you mean "title"?',
      'waypost.yml:1:74 «titel» WP_DEFINITION_SCHEMA_INVALID "titel" is not a valid key of a JSON Schema | Did you mean "title"?',
    ],
  },
]
