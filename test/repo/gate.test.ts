// A release becomes active through src/operate/releases/gate/ only, which knows what it needs and what the caller allowed.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.join(import.meta.dirname, '../..')

/** Calls that make a release active. */
const activating =
  /(?<!function |async )\b(?:(?:activateRelease|activateSerialized|rollBack|rollBackToDraft|recordActivation)\(|target\.activate\()/
const gate = /\bactivateJudged[<(]/

/** Modules that activate releases without the gate, and why they may. */
const exempt: Readonly<Record<string, string>> = {
  'src/release/activate.ts': 'what the gate calls',
  'src/release/roll-back.ts': 'what the gate calls',
  'src/backend/publish/roll-back-to-draft.ts': 'what the gate calls for a rollback that keeps the draft',
  'src/project/deploy/open-system-target.ts': 'what the gate calls for a deployment from the command line',
  'src/project/test-project.ts': 'tests have a System of their own',
}

/** Returns the modules that activate a release and do not pass the gate. */
function findUngated(files: Readonly<Record<string, string>>): readonly string[] {
  const found = Object.entries(files).filter(([, text]) => {
    const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*|^import [^]*? from .*$/gm, '')
    return activating.test(withoutMethods(code)) && !gate.test(code)
  })
  return found.map(([file]) => file)
}

/** Declarations of methods with the same names call nothing. */
function withoutMethods(code: string): string {
  return code
    .replaceAll(/^ *(?:async )?rollBack\([^)]*\)(?:: [^\n]*)?(?: \{)?$/gm, '')
    .replaceAll(/receiver\.rollBack\(/g, '')
}

const sources = Object.fromEntries(
  globSync('{src,commands,bin}/**/*.ts', { cwd: root }).map((file) => [
    file.replaceAll('\\', '/'),
    readFileSync(path.join(root, file), 'utf8'),
  ]),
)

test('no module activates a release without the gate, except those that are listed', () => {
  assert.deepEqual(
    findUngated(sources).filter((file) => exempt[file] === undefined),
    [],
  )
})

test('each exempt module still activates releases', () => {
  const found = new Set(findUngated(sources))
  const stale = Object.keys(exempt).filter((file) => !found.has(file))
  assert.deepEqual(stale, [])
})

test('a planted activation is found', () => {
  const planted = {
    'src/backend/quick.ts':
      "import { activateRelease } from '../release/index.ts'\nawait activateRelease(system, built, { by })\n",
    'src/jobs/restore.ts': 'return rollBack(host.system, id, options)\n',
    'src/project/deploy/other.ts': 'await target.activate(release, bound)\n',
    'src/operate/judged.ts':
      'await activateJudged(judged, options, (bound) => activateSerialized(system, release, bound))\n',
    'src/operate/mentions.ts': '// Like activateRelease(system)\nexport const kind = activateReleases\n',
  }
  assert.deepEqual(findUngated(planted), ['src/backend/quick.ts', 'src/jobs/restore.ts', 'src/project/deploy/other.ts'])
})
