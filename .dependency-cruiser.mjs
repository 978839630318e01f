// Who may import what. The tables below are the rule; `docs/architecture.md` shows the first one, and
// test/repo/rooms.test.ts plants a violation of every rule to prove that it is seen.

import swc from '@swc/core/Visitor.js'

// The parser knows `using`, its visitor does not and would stop there.
const visitor = swc.Visitor.prototype // oxlint-disable-line typescript/no-deprecated -- what dependency-cruiser uses
const { visitStatement } = visitor
visitor.visitStatement = function visitUsing(statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement)
  return { ...statement, decls: this.visitVariableDeclarators(statement.decls) }
}

/** Rooms of `src/`, lowest first, each with the rooms that it may import. */
export const rooms = {
  kit: [],
  contract: ['kit'],
  schema: ['kit', 'contract'],
  tables: ['kit', 'contract'],
  store: ['kit', 'contract', 'tables'],
  outbound: ['kit'],
  plugin: ['kit', 'contract'],
  connection: ['kit', 'contract', 'plugin'],
  release: ['kit', 'contract', 'schema', 'store'],
  auth: ['kit', 'contract', 'store'],
  events: ['kit', 'store', 'outbound'],
  definition: ['kit', 'contract', 'schema', 'tables'],
  build: ['kit', 'contract', 'schema', 'tables', 'plugin', 'definition', 'release'],
  runtime: ['kit', 'contract', 'schema', 'plugin', 'release', 'connection', 'auth', 'events'],
}
const below = (...excluded) => Object.keys(rooms).filter((room) => !excluded.includes(room))
rooms.host = below()
rooms.jobs = below()
rooms.operate = below('jobs')
rooms.consumer = ['kit', 'contract', 'auth', 'events', 'runtime']
rooms.backend = below('jobs', 'consumer')
rooms.server = below()
rooms.project = below()
rooms.testing = ['kit', 'contract', 'plugin', 'definition', 'host', 'jobs', 'operate', 'server', 'project']

/** Folders of a room in layers, lowest first: each may import those before it. Files beside them are free. */
export const layers = {
  auth: ['account', 'token', 'access', 'self-service', 'endpoint', 'authorize'],
  events: ['signing', 'message', 'lanes', 'run', 'subscription', 'worker'],
}

/** What the package publishes, each with the rooms whose names it hands on. */
export const faces = { index: ['contract'], sql: ['store'] }

/** Packages that only some places may import. */
export const fences = {
  fastify: {
    packages: ['fastify', '@fastify/[^/]+'],
    places: [...places('runtime', 'auth', 'consumer', 'events', 'backend'), '^bin/build/'],
  },
  'mikro-orm': { packages: ['@mikro-orm/[^/]+'], places: [...places('store'), '^plugins/'] },
  yaml: { packages: ['yaml'], places: places('definition') },
  oclif: { packages: ['@oclif/core'], places: ['^commands/', '^bin/', '^plugins/[^/]+/commands/'] },
  esbuild: { packages: ['esbuild'], places: [...places('build', 'project'), '^bin/build/'] },
  undici: { packages: ['undici'], places: [...places('outbound'), '^plugins/'] },
  react: {
    packages: [
      'react(-dom)?',
      '@mantine/[^/]+',
      '@tanstack/[^/]+',
      '@codemirror/[^/]+',
      '@dagrejs/[^/]+',
      'lucide-react',
    ],
    places: [...places('backend/ui'), '^bin/build/'],
  },
}

function places(...names) {
  return names.map((name) => `^src/${name}/`)
}

const ours = '^(src|commands|bin|plugins/[^/]+/(src|commands))/'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'A circle of modules cannot be understood, tested or moved in parts. Type imports count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'room-door',
      comment: 'Another room is entered through its index.ts only.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'room-door-from-outside',
      comment: 'commands/, bin/ and the published face enter a room through its index.ts only.',
      severity: 'error',
      from: { path: ['^(commands|bin)/', '^src/[^/]+\\.ts$'] },
      to: { path: '^src/[^/]+/', pathNot: '^src/[^/]+/index\\.ts$' },
    },
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `room-${room}`,
      comment: `${room} may import ${allowed.length === 0 ? 'no other room' : allowed.join(', ')}.`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { path: '^src/', pathNot: [room, ...allowed].map((name) => `^src/${name}/`) },
    })),
    {
      name: 'known-room',
      comment: 'Every folder of src/ is a room of the table.',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: `^src/(${Object.keys(rooms).join('|')})/` },
    },
    ...Object.entries(layers).flatMap(([room, folders]) =>
      folders.map((folder, index) => ({
        name: `layer-${room}-${folder}`,
        comment: `src/${room}/${folder}/ may import ${folders.slice(0, index).join(', ') || 'no other folder of its room'}.`,
        severity: 'error',
        from: { path: `^src/${room}/${folder}/` },
        to: {
          path: folders
            .slice(index + 1)
            .map((name) => `^src/${room}/${name}/`)
            .concat(`^src/${room}/index\\.ts$`),
        },
      })),
    ),
    {
      name: 'known-layer',
      comment: 'Every folder of a room in layers is one of them.',
      severity: 'error',
      from: {},
      to: {
        path: Object.keys(layers).map((room) => `^src/${room}/[^/]+/`),
        pathNot: Object.entries(layers).flatMap(([room, folders]) =>
          folders.map((folder) => `^src/${room}/${folder}/`),
        ),
      },
    },
    {
      name: 'pages-know-the-api',
      comment: 'What runs in browsers imports of the rest of Waypost only the types of the admin API.',
      severity: 'error',
      from: { path: '^src/backend/ui/' },
      to: {
        path: '^(src|commands|bin|test|bench|plugins|dist)/',
        pathNot: ['^src/backend/ui/', '^src/backend/api/operations\\.ts$'],
      },
    },
    {
      name: 'pages-know-types-only',
      comment: 'No code of the server may get into what browsers load.',
      severity: 'error',
      from: { path: '^src/backend/ui/' },
      to: { path: '^src/backend/api/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pages-need-no-node',
      comment: 'Browsers have no modules of Node.',
      severity: 'error',
      from: { path: '^src/backend/ui/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pages-are-built-apart',
      comment: 'The server serves the built pages; it imports nothing of them.',
      severity: 'error',
      from: { path: '^(src|commands|bin|bench|plugins)/', pathNot: '^src/backend/ui/' },
      to: { path: '^src/backend/ui/' },
    },
    {
      name: 'pages-of-two-apps',
      comment: 'The backend and the portal share components, not pages and editors.',
      severity: 'error',
      from: { path: '^src/backend/ui/(portal|docs)/' },
      to: { path: '^src/backend/ui/(pages|editors|publish)/' },
    },
    {
      name: 'pages-of-one-app',
      comment: 'Only the portal and the API reference use what only they have.',
      severity: 'error',
      from: { path: '^src/backend/ui/', pathNot: '^src/backend/ui/(portal|docs)/' },
      to: { path: '^src/backend/ui/(portal|docs)/' },
    },
    ...Object.entries(faces).map(([face, allowed]) => ({
      name: `face-${face}`,
      comment: `src/${face}.ts publishes names of ${allowed.join(', ')} and of nothing else of Waypost.`,
      severity: 'error',
      from: { path: `^src/${face}\\.ts$` },
      to: { path: '^src/', pathNot: allowed.map((room) => `^src/${room}/`) },
    })),
    {
      name: 'known-face',
      comment: 'A file beside the rooms is a published face of the table.',
      severity: 'error',
      from: { path: '^src/[^/]+$', pathNot: Object.keys(faces).map((face) => `^src/${face}\\.ts$`) },
      to: {},
    },
    {
      name: 'face-for-others',
      comment: 'The published faces are for projects and plugins; a room imports from rooms.',
      severity: 'error',
      from: { path: '^(src|commands|bin)/' },
      to: { path: '^src/[^/]+$' },
    },
    {
      name: 'commands-only-call',
      comment: 'A command parses flags, calls one function of a composition root and prints.',
      severity: 'error',
      from: { path: '^commands/' },
      to: {
        path: '^(src|bin|test|bench|plugins)/',
        pathNot: ['^src/(kit|project|server|host|jobs|operate)/', '^bin/cli/'],
      },
    },
    {
      name: 'commands-packages',
      comment: 'A command needs no package but @oclif/core.',
      severity: 'error',
      from: { path: '^commands/' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/@oclif/core/' },
    },
    {
      name: 'commands-load-late',
      comment: 'Heavy rooms are loaded by await import() inside run(), so that --help stays quick.',
      severity: 'error',
      from: { path: '^commands/' },
      to: { path: '^src/(project|server|host|jobs|operate)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'launcher',
      comment: 'The furniture of the command line needs kit, and types of what the commands call.',
      severity: 'error',
      from: { path: '^bin/cli/' },
      to: {
        path: '^(src|commands|bin|test|bench|plugins)/',
        pathNot: ['^src/(kit|project|server|host|jobs|operate)/', '^bin/cli/'],
      },
    },
    {
      name: 'launcher-types-only',
      comment: 'The furniture of the command line is loaded by every command; a composition root is not.',
      severity: 'error',
      from: { path: '^bin/cli/', pathNot: '^bin/cli/plugin-commands\\.ts$' }, // loaded for commands of plugins only
      to: { path: '^src/(project|server|host|jobs|operate)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-imports-upwards',
      comment: 'The rooms know neither commands nor launcher, tests nor plugins.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '^(commands|bin|test|bench|plugins|templates|dist)/',
        pathNot: '^plugins/(sql|http)/dist/index\\.', // by src/plugin/load-plugins.ts, as packages
      },
    },
    {
      name: 'plugins-use-the-published-face',
      comment: 'First-party plugins use what everybody can use: the package waypost and npm packages.',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/' },
      to: {
        path: '^(src|commands|bin|test|bench|plugins|dist)/',
        pathNot: ['^plugins/$1/', '^dist/src/(index|sql|testing/index)\\.', '^test/support/'],
      },
    },
    ...Object.entries(fences).map(([name, { packages, places: allowed }]) => ({
      name: `fence-${name}`,
      comment: `${name} is used in ${allowed.join(' ')} only; types also in src/contract/.`,
      severity: 'error',
      from: { path: ours, pathNot: [...allowed, '^src/contract/'] },
      to: { path: `node_modules/(${packages.join('|')})/` },
    })),
    {
      name: 'contract-types-only',
      comment: 'The contract borrows types of other packages; nothing of them runs with it.',
      severity: 'error',
      from: { path: '^src/contract/' },
      to: { path: 'node_modules/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'fence-environment',
      comment: 'process.env is read in src/kit/environment.ts. (The lint rule no-process-env sees the global.)',
      severity: 'error',
      from: { path: '^(src|commands)/' },
      to: { path: '^(node:)?process$', dependencyTypes: ['core'] },
    },
    {
      name: 'listed-package',
      comment: 'What is bundled is listed in package.json, as a development package: nothing of it is installed.',
      severity: 'error',
      from: { path: '^(src|commands|bin/cli|plugins/[^/]+/src)/' },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@opentelemetry/', // optional peers: src/host/tracing/open-tracing.ts
      },
    },
    {
      name: 'no-development-package',
      comment: 'What is published and not bundled must not need a package that only development installs.',
      severity: 'error',
      from: { path: '^plugins/redis/src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    // With TypeScript 7 the default parser sees no module and reports no problem.
    parser: 'swc',
    doNotFollow: { path: ['node_modules', '(^|/)dist/'] },
    exclude: { path: ['(^|/)coverage/', '^test/fixtures/', '(^|/)\\.waypost/'] },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
