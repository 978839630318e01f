import type { Case } from './case.ts'

/** Media types of requests and responses. */
export const contentCases: readonly Case[] = [
  {
    name: 'content without a media type',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [] }\n',
    },
    problems: [
      'waypost.yml:7:29 «[]» WP_DEFINITION_VALUE_INVALID "content" must be a map of media type to schema or a list of media types, not an empty list',
    ],
  },
  {
    name: 'content that is one media type',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: image/png }\n',
    },
    problems: [
      'waypost.yml:7:29 «image/png» WP_DEFINITION_VALUE_INVALID "content" must be a map of media type to schema or a list of media types, not "image/png"',
    ],
  },
  {
    name: 'a wildcard',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [image/*] }\n',
    },
    problems: [
      'waypost.yml:7:30 «image/*» WP_DEFINITION_VALUE_INVALID "image/*" is not a media type | List each type, for example image/png and image/jpeg',
    ],
  },
  {
    name: 'a media type in upper case',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [Image/PNG] }\n',
    },
    problems: [
      'waypost.yml:7:30 «Image/PNG» WP_DEFINITION_VALUE_INVALID "Image/PNG" is not a media type | Write image/png, in lower case and without parameters',
    ],
  },
  {
    name: 'a media type with parameters',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { "text/plain; charset=utf-8": { type: string } } }\n',
    },
    problems: [
      'waypost.yml:7:31 «"text/plain; charset=utf-8"» WP_DEFINITION_VALUE_INVALID "text/plain; charset=utf-8" is not a media type | Write text/plain, in lower case and without parameters',
    ],
  },
  {
    name: 'half a media type',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [png] }\n',
    },
    problems: ['waypost.yml:7:30 «png» WP_DEFINITION_VALUE_INVALID "png" is not a media type | Write image/png'],
  },
  {
    name: 'a repeated media type',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [image/png, image/png] }\n',
    },
    problems: [
      'waypost.yml:7:41 «image/png» WP_DEFINITION_VALUE_INVALID image/png is repeated | Remove one of the two',
    ],
  },
  {
    name: 'JSON without a schema',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [application/json] }\n',
    },
    problems: [
      'waypost.yml:7:30 «application/json» WP_DEFINITION_VALUE_INVALID application/json needs a schema | Write a map: content: { application/json: SCHEMA }',
    ],
  },
  {
    name: 'JSON with an empty schema',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { application/json: } }\n',
    },
    problems: [
      'waypost.yml:7:31 «application/json» WP_DEFINITION_VALUE_INVALID application/json needs a schema | Write application/json: SCHEMA',
    ],
  },
  {
    name: 'two types of JSON',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { application/json: true, application/vnd.a+json: true } }\n',
    },
    problems: [
      'waypost.yml:7:55 «application/vnd.a+json» WP_DEFINITION_VALUE_INVALID application/vnd.a+json and application/json are both JSON | Keep one of the two',
    ],
  },
  {
    name: 'a schema of text that is no string',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { text/plain: { type: integer } } }\n',
    },
    problems: [
      'waypost.yml:7:43 «{ type: integer }» WP_DEFINITION_SCHEMA_INVALID The schema of text/plain must be of type string, not "integer" | Write { type: string }, or omit the schema: then the action gets a stream',
    ],
  },
  {
    name: 'a keyword beside content',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [image/png], type: object }\n',
    },
    problems: [
      'waypost.yml:7:42 «type» WP_DEFINITION_VALUE_INVALID "type" is not allowed beside "content" | Write each schema below its media type, for example application/json: SCHEMA',
    ],
  },
  {
    name: 'content beside a type in a schema',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { type: object, properties: { a: { type: object, content: 1 } } }\n',
    },
    problems: [
      'waypost.yml:7:67 «content» WP_DEFINITION_SCHEMA_INVALID "content" is not a valid key of a JSON Schema | Write it alone, in place of the schema of a request or a response',
    ],
  },
  {
    name: 'a request of events',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { text/event-stream: { type: object } } }\n',
    },
    problems: [
      'waypost.yml:7:31 «text/event-stream» WP_DEFINITION_VALUE_INVALID A request of text/event-stream has no schema | List it: content: [text/event-stream]. The action gets a stream',
    ],
  },
  {
    name: 'events without a schema',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      GET:\n        action: src/a.ts\n        response: { content: [text/event-stream] }\n',
    },
    problems: [
      'waypost.yml:7:31 «text/event-stream» WP_DEFINITION_VALUE_INVALID text/event-stream needs a schema | Write a map: content: { text/event-stream: SCHEMA }',
    ],
  },
  {
    name: 'a multipart response',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      GET:\n        action: src/a.ts\n        response: { content: { multipart/form-data: { type: object } } }\n',
    },
    problems: [
      'waypost.yml:7:32 «multipart/form-data» WP_DEFINITION_VALUE_INVALID A response cannot be multipart/form-data | Callers expect it in requests only; use application/json',
    ],
  },
  {
    name: 'another multipart type',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/mixed: { type: object } } }\n',
    },
    problems: [
      'waypost.yml:7:31 «multipart/mixed» WP_DEFINITION_VALUE_INVALID multipart/mixed is not supported | Use multipart/form-data in a request',
    ],
  },
  {
    name: 'a multipart schema of an array',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: array, maxItems: 1 } } }\n',
    },
    problems: [
      'waypost.yml:7:52 «{ type: array, maxItems: 1 }» WP_DEFINITION_SCHEMA_INVALID The schema of multipart/form-data must be of type object, not "array"',
    ],
  },
  {
    name: 'a file without a size',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: file } } } } }\n',
    },
    problems: [
      'waypost.yml:7:85 «{ type: file }» WP_DEFINITION_SCHEMA_INVALID "maxSize" is missing, but required in a file',
    ],
  },
  {
    name: 'a file with an invalid size',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: file, maxSize: 5x } } } } }\n',
    },
    problems: ['waypost.yml:7:108 «5x» WP_DEFINITION_SCHEMA_INVALID "maxSize" must be a size such as 5mb, not "5x"'],
  },
  {
    name: 'a file with invalid keys',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: file, maxSize: 1kb, types: [png], size: 3 } } } } }\n',
    },
    problems: [
      'waypost.yml:7:121 «png» WP_DEFINITION_VALUE_INVALID "png" is not a media type | Write image/png',
      'waypost.yml:7:127 «size» WP_DEFINITION_SCHEMA_INVALID "size" is not a valid key of a file | Valid keys: type, description, types, maxSize',
    ],
  },
  {
    name: 'a list of files without a maximum',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: array, items: { type: file, maxSize: 1kb } } } } } }\n',
    },
    problems: ['waypost.yml:7:82 «f» WP_DEFINITION_SCHEMA_INVALID A list of files needs "maxItems" | Add maxItems: 20'],
  },
  {
    name: 'a file below a part',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: object, properties: { g: { type: file } } } } } } }\n',
    },
    problems: [
      'waypost.yml:7:126 «file» WP_DEFINITION_SCHEMA_INVALID "file" is not a JSON Schema type | A file is a property of a multipart schema that is written below multipart/form-data, or the items of an array there',
    ],
  },
  {
    name: 'a file in a JSON body',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { type: object, properties: { f: { type: file, maxSize: 5mb } } }\n',
    },
    problems: [
      'waypost.yml:7:59 «file» WP_DEFINITION_SCHEMA_INVALID "file" is not a JSON Schema type | A file is a property of a multipart schema that is written below multipart/form-data, or the items of an array there',
      'waypost.yml:7:65 «maxSize» WP_DEFINITION_SCHEMA_INVALID "maxSize" is not a valid key of a JSON Schema | It limits a file: { type: file, maxSize: 5mb } in a multipart schema',
    ],
  },
  {
    name: 'a file in a named schema',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: A } }\nschema: { A: { type: object, properties: { f: { type: file } } } }\n',
    },
    problems: [
      'waypost.yml:8:55 «file» WP_DEFINITION_SCHEMA_INVALID "file" is not a JSON Schema type | A file is a property of a multipart schema that is written below multipart/form-data, or the items of an array there',
    ],
  },
  {
    name: 'files that are larger than the body',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: file, maxSize: 5mb } } } } }\n',
    },
    problems: [
      'waypost.yml:7:9 «request» WP_DEFINITION_VALUE_INVALID The files of this request need a body of up to 6mb, but "body_limit" is 1mb | Add body_limit: 6mb to the method, or lower "maxSize" or "maxItems"',
    ],
  },
  {
    name: 'files that are larger than the limit of the method',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: array, maxItems: 3, items: { type: file, maxSize: 1mb } } } } } }\n        body_limit: 3mb\n',
    },
    problems: [
      'waypost.yml:8:9 «body_limit» WP_DEFINITION_VALUE_INVALID The files of this request need a body of up to 4mb, but "body_limit" is 3mb | Write body_limit: 4mb, or lower "maxSize" or "maxItems"',
    ],
  },
  {
    name: 'files that are larger than the setting',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object, properties: { f: { type: file, maxSize: 5mb } } } } }\nconfig: { body_limit: 5mb }\n',
    },
    problems: [
      'waypost.yml:7:9 «request» WP_DEFINITION_VALUE_INVALID The files of this request need a body of up to 6mb, but "body_limit" is 5mb | Add body_limit: 6mb to the method, or lower "maxSize" or "maxItems"',
    ],
  },
  {
    name: 'a form with an object',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { application/x-www-form-urlencoded: { type: object, properties: { a: { type: object } } } } }\n',
    },
    problems: [
      'waypost.yml:7:99 «{ type: object }» WP_DEFINITION_SCHEMA_INVALID "a" cannot be of type "object": a form contains text | Use multipart/form-data, whose parts may be JSON',
    ],
  },
  {
    name: 'an invalid body_limit',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: true\n        body_limit: big\n',
    },
    problems: [
      'waypost.yml:8:21 «big» WP_DEFINITION_VALUE_INVALID "body_limit" must be a size such as 512kb or 10mb, not "big"',
    ],
  },
  {
    name: 'a body_limit that is too large',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: true\n        body_limit: 20gb\n',
    },
    problems: [
      'waypost.yml:8:21 «20gb» WP_DEFINITION_VALUE_INVALID "body_limit" must be at least 1b and at most 16gb, not "20gb"',
    ],
  },
  {
    name: 'a body_limit and raw of GET',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      GET:\n        action: src/a.ts\n        response: true\n        body_limit: 1mb\n        raw: true\n',
    },
    problems: [
      'waypost.yml:8:9 «body_limit» WP_DEFINITION_VALUE_INVALID "body_limit" applies to requests with a body, not to GET',
      'waypost.yml:9:9 «raw» WP_DEFINITION_VALUE_INVALID "raw" applies to requests with a body, not to GET',
    ],
  },
  {
    name: 'raw with files',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { multipart/form-data: { type: object } } }\n        raw: true\n',
    },
    problems: [
      'waypost.yml:8:9 «raw» WP_DEFINITION_VALUE_INVALID "raw" keeps the body in memory, so it cannot be combined with multipart/form-data | Remove it',
    ],
  },
  {
    name: 'raw with a stream',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: [image/png] }\n        raw: true\n',
    },
    problems: [
      'waypost.yml:8:9 «raw» WP_DEFINITION_VALUE_INVALID "raw" keeps the body in memory, so it cannot be combined with image/png | Remove it: the action gets the bytes of this type as a stream already',
    ],
  },
  {
    name: 'content of an action class',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: { class: echo }\n        request: { content: { application/json: true, text/plain: { type: string } } }\n',
    },
    problems: [
      'waypost.yml:7:9 «request» WP_DEFINITION_VALUE_INVALID An action class cannot read text/plain, only JSON | Use an action in a file',
    ],
  },
  {
    name: 'an unknown schema in content',
    files: {
      'waypost.yml':
        'routes:\n  /x:\n    scopes: []\n    methods:\n      POST:\n        action: src/a.ts\n        request: { content: { application/json: Tood } }\nschema: { Todo: true }\n',
    },
    problems: [
      'waypost.yml:7:49 «Tood» WP_DEFINITION_SCHEMA_UNKNOWN Unknown schema "Tood" | Did you mean "Todo" (waypost.yml:8)?',
    ],
  },
]
