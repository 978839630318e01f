import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildRelease } from '../../src/build/index.ts'
import { loadTsconfig } from '../../src/build/load-tsconfig.ts'
import { importArtifact, registerArtifacts } from '../../src/release/index.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

test('the build follows what tsconfig.json and the files that it extends say, with comments and trailing commas', async () => {
  await using project = await makeProject({
    'tsconfig.json': `// Of this project
{ "extends": ["pack/base", "./config/paths"], "compilerOptions": { "experimentalDecorators": true, "emitDecoratorMetadata": true, }, /* "paths": {} */ }`,
    'config/paths.json':
      '{ "compilerOptions": { "paths": { "@lib/*": ["../src/lib/*"], "@exact": ["../src/lib/pick.ts"] } } }',
    'node_modules/pack/package.json': '{ "name": "pack" }',
    'node_modules/pack/base.json': '{ "compilerOptions": { "target": "es2021", "customConditions": ["own"] } }',
    'node_modules/dual/package.json':
      '{ "name": "dual", "type": "module", "exports": { "own": "./own.js", "default": "./other.js" } }',
    'node_modules/dual/own.js': 'export const dual = "own"\n',
    'node_modules/dual/other.js': 'export const dual = "other"\n',
    'src/lib/pick.ts': 'export const pick = 5\n',
    'src/a.ts': actionReturning(
      '[new Input().name, seen, pick, exact, dual, Object.keys(new Input())]',
      `import { pick } from '@lib/pick.ts'
import { pick as exact } from '@exact'
import { dual } from 'dual'
const seen: unknown[] = []
function Named(target: any, key: any) { seen.push(typeof target, key) }
class Base { set name(value: string) { seen.push(value) } get name() { return 'base' } }
class Input extends Base { @Named name = 'own' }`,
    ),
  })
  const definition = defineActions('src/a.ts')
  const { release, diagnostics } = await buildRelease({ root: project.root, version: '1.0.0', definition })
  assert.deepEqual(
    diagnostics.map(({ code, severity, file, message }) => [code, severity, file, message]),
    [
      [
        'WP_BUILD_TSCONFIG',
        'warning',
        'tsconfig.json',
        'Waypost ignores "emitDecoratorMetadata" in tsconfig.json when it builds a release',
      ],
    ],
  )
  registerArtifacts(release!.artifacts)
  const { artifact } = release!.manifest.routes[0]!.methods[0]!.action as { readonly artifact: string }
  const module = (await importArtifact(artifact)) as { readonly default: new () => { handle(): Promise<unknown> } }
  // Without fields of ES2022, an assignment in a class calls the setter of its base.
  assert.deepEqual(await new module.default().handle(), ['base', ['object', 'name', 'own', 'own'], 5, 5, 'own', []])
  assert.deepEqual(loadTsconfig(project.root).files.toSorted(), [
    'config/paths.json',
    'node_modules/pack/base.json',
    'tsconfig.json',
  ])
})

test('names of paths, folders and dependencies of the project are never taken for packages to install', async () => {
  await using project = await makeProject({
    'package.json': '{ "dependencies": { "dates": "1" } }',
    'tsconfig.json': '{ "compilerOptions": { "paths": { "@lib/*": ["./src/lib/*"] } } }',
    'src/a.ts': actionReturning(
      '1',
      `import '@lib/pick.ts'\nimport '~/pick.ts'\nimport 'src/lib/pick'\nimport 'date'\nimport 'unheard'`,
    ),
  })
  const { diagnostics } = await buildRelease({
    root: project.root,
    version: '1.0.0',
    definition: defineActions('src/a.ts'),
  })
  assert.deepEqual(
    diagnostics.map(({ hint }) => hint),
    [
      '"@lib/*" in "paths" of tsconfig.json does not match a file',
      'Use a relative path, or declare it in "paths" of tsconfig.json',
      'Use a relative path: "./lib/pick"',
      'Did you mean "dates"?',
      'Is "unheard" a package? Then install it: npm install unheard',
    ],
  )
})
