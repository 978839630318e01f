// What people and pipelines read: results on stdout, everything else on stderr, `--json` for programs, colour for eyes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { assertCalm } from './serving.ts'
import { isLong, longTest } from '../support/forms.ts'

const escape = '\u001b'
const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) to make a terminal'

let project: TestProject
before(async () => {
  project = await makeProject()
})
after(() => project.remove())

describe('each command', { concurrency: 1 }, () => {
  const commands = [
    ...'init validate dev migrate deploy serve user:add client:add token:issue token:revoke'.split(' '),
    ...'event:execute event:list event:deliveries event:replay event:resume event:retry event:listen'.split(' '),
    ...'release:list release:show release:diff release:rollback release:prune'.split(' '),
  ]
  for (const command of commands) {
    it(`${command} --help leads with examples and fits into 80 columns`, async () => {
      const help = await project.ok(`${command} --help`)
      assert.match(help, new RegExp(`^\\S.*\\n\\nEXAMPLES\\n {2}\\$ waypost ${command}\\b`))
      assert.match(help, /\n\nUSAGE\n/)
      const options = help.slice(help.indexOf('\nUSAGE')).split('\n')
      assert.deepEqual(
        options.filter((line) => line.length > 80),
        [],
      )
    })
  }
})

describe('--json prints one line of JSON and nothing else', { concurrency: 1 }, () => {
  const steps: readonly (readonly [words: string, keys: readonly string[]])[] = [
    ['validate --json', ['diagnostics', 'ok']],
    ['migrate --json', ['applied', 'written']],
    ['user:add ann --scopes todo --json', ['id', 'name', 'password', 'scopes']],
    ['client:add shop --user ann --json', ['client_id', 'client_secret', 'grants', 'redirect_uris', 'scopes']],
    [
      'client:add app --user ann --public --redirect-uri http://127.0.0.1/ --json',
      ['client_id', 'grants', 'redirect_uris', 'scopes'],
    ],
    ['token:issue --user ann --expires 1h --json', ['access_token', 'expires_in', 'jti', 'scope']],
    [
      'deploy --yes --json',
      [
        'access_warnings',
        'activated',
        'active',
        'breaking',
        'breaking_changes',
        'changes',
        'dropped_migrations',
        'files_changed',
        'migrated',
        'missing_variables',
        'older_servers',
        'overwritten',
        'pending_migrations',
        'recorded',
        'release',
        'rollbacks',
        'servers',
        'target',
        'unheld_scopes',
      ],
    ],
    ['event:execute --json', ['attempted', 'dead', 'delivered', 'retrying']],
    ['token:revoke --user ann --json', ['revoked', 'sessions']],
  ]
  for (const [words, keys] of steps) {
    it(words, async () => {
      const printed = await project.ok(words)
      assert.match(printed, /^\{.*\}\n$/)
      assert.deepEqual(Object.keys(JSON.parse(printed)).toSorted(), keys)
    })
  }

  it('errors are data too', async () => {
    const { code, stdout } = await project.run('token:issue --user anna --json')
    assert.equal(code, 1)
    assert.deepEqual(JSON.parse(stdout), {
      error: { code: 'WP_AUTH_USER_UNKNOWN', message: 'Unknown user "anna"', hint: 'Did you mean "ann"?' },
    })
  })
})

describe('for people', { concurrency: 1 }, () => {
  const text = async (words: string) => {
    const { stdout, stderr } = await project.run(words)
    assert.ok(!(stdout + stderr).includes(escape), 'no colour in a pipe')
    assertCalm(stdout + stderr)
    return { stdout, stderr }
  }

  it('a command that changes System names it on stderr, and its result on stdout', async () => {
    assert.deepEqual(await text('migrate'), {
      stdout: '  Nothing to do: all migrations are applied.\n',
      stderr: `  Target     ${project.folder}/.waypost/system.db\n`,
    })
    const added = await text('user:add bob --scopes todo')
    assert.match(
      added.stdout,
      /^ {2}Added {6}bob with consumer, todo\n {2}Password {3}\S{16} {3}\(shown only once\)\n$/,
    )
    assert.equal(added.stderr, `  Target     ${project.folder}/.waypost/system.db\n`)
    assert.match((await text('token:issue --user bob')).stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  })

  it('deploy shows the changes', async () => {
    await project.edit('resources/schema.yml', 'maxLength: 64', 'maxLength: 60')
    await project.edit('resources/routes/todo/entity.yml', '  DELETE:', '  PATCH:')
    const { stdout, stderr } = await text('deploy --yes')
    assert.match(stdout, /^ {2}Activated {2}[0-9a-f]{8}\n {2}Serving {4}no server is running.*\n$/)
    const user = spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim()
    const lines = stderr
      .replaceAll(/\b[0-9a-f]{8}\b/g, 'RELEASE1')
      .replace(/\d+ s ago/, '5 s ago')
      .split('\n')
    assert.deepEqual(lines.slice(1, 4), [`  Active     RELEASE1   5 s ago, by ${user}`, '  Project    RELEASE1', ''])
    for (const change of [
      /^ {2}- route +DELETE \/todo\/:todo_id +callers get 405 {3}BREAKING$/,
      /^ {2}\+ route +PATCH \/todo\/:todo_id +private, scope todo/,
      /^ {2}~ schema +Todo-Input +"title" maxLength 60, was 64/,
    ]) {
      assert.ok(
        lines.some((line) => change.test(line)),
        `${change}\n${stderr}`,
      )
    }
  })

  it('validate shows location, problem and hint', async () => {
    await project.edit('resources/routes/todo/collection.yml', 'Todo-Collection', 'Todo-Colection')
    const { stdout, stderr } = await text('validate')
    assert.equal(
      stdout,
      [
        'resources/routes/todo/collection.yml:9:15  Unknown schema "Todo-Colection"',
        '      response: Todo-Colection',
        '                ^^^^^^^^^^^^^^',
        `  Did you mean "Todo-Collection" (resources/schema.yml:18)?            WP_DEFINITION_SCHEMA_UNKNOWN`,
        '  included at waypost.yml:3:10',
        '',
        '',
      ].join('\n'),
    )
    assert.match(stderr, /^1 error in 1 file \(2 routes, 4 schemas, 1 event; \d+\.\d\d s\)\n$/)
  })
})

describe('on a terminal', { skip, concurrency: 1 }, () => {
  it('places are cyan, and lines keep to its width', () => {
    const printed = onTerminal('validate', 80)
    assert.ok(printed.startsWith(`${escape}[36mresources/routes/todo/collection.yml:9:15${escape}[39m  Unknown schema`))
    const lines = printed.replaceAll(new RegExp(`${escape}\\[\\d+m`, 'g'), '').split(/\r?\n/)
    assert.deepEqual(
      lines.filter((line) => line.length > 80),
      [],
    )
    assert.equal(lines[4], `${' '.repeat(51)}WP_DEFINITION_SCHEMA_UNKNOWN`)
  })

  // In CI, bin/colour.test.ts turns it off.
  longTest('NO_COLOR turns colour off', async () => {
    assert.ok(!onTerminal('validate', 80, { NO_COLOR: '1' }).includes(escape))
  })

  it('routes fits the width of the terminal, down to a readable minimum', async () => {
    await project.edit('resources/routes/todo/collection.yml', 'Todo-Colection', 'Todo-Collection')
    const widest = (columns: number) => {
      const lines = onTerminal('routes', columns).split(/\r?\n/)
      return Math.max(...lines.map((line) => line.length))
    }
    for (const columns of isLong ? [80, 90] : [80]) assert.ok(widest(columns) <= columns)
    if (isLong) assert.deepEqual([120, 200].map(widest), [95, 95])
    if (isLong) assert.ok(widest(60) <= 72)
    // Nothing is cut: a long name continues on the next line.
    assert.ok(!onTerminal('routes', 60).includes('…'))
  })

  it('event:execute reports that no delivery is due', () => {
    // On a slow machine the line that says how far it is was there before.
    const [printed] = onTerminal('event:execute', 80).split(`\r${escape}[2K`).slice(-1)
    assert.match(printed!, /^ {2}Nothing is due\.\r?\n$/)
  })
})

function onTerminal(words: string, columns: number, env: Readonly<Record<string, string>> = {}): string {
  const command = `stty cols ${columns}; ${process.execPath} ${path.join(checkout, 'bin/run.js')} ${words}`
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    cwd: project.folder,
    encoding: 'utf8',
    env: cleanEnvironment({ TERM: 'xterm-256color', ...env }),
  })
  return stdout
}
