import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spellCommands } from '../../src/kit/index.ts'

test('hints name the commands of the package manager', () => {
  const rows: [npm: string, pnpm: string, yarn: string, bun: string][] = [
    [
      'Run npx waypost migrate.',
      'Run pnpm exec waypost migrate.',
      'Run yarn waypost migrate.',
      'Run bunx waypost migrate.',
    ],
    ['npm install lodash', 'pnpm add lodash', 'yarn add lodash', 'bun add lodash'],
    [
      'Then install it: npm install @a/b',
      'Then install it: pnpm add @a/b',
      'Then install it: yarn add @a/b',
      'Then install it: bun add @a/b',
    ],
    [
      'npm install --save-dev typescript',
      'pnpm add --save-dev typescript',
      'yarn add --dev typescript',
      'bun add --dev typescript',
    ],
    ['npm install', 'pnpm install', 'yarn install', 'bun install'],
    ['npm run dev', 'pnpm run dev', 'yarn run dev', 'bun run dev'],
    ['npm start', 'pnpm run start', 'yarn run start', 'bun run start'],
  ]
  for (const [npm, ...others] of rows) {
    assert.equal(spellCommands(npm, 'npm'), npm)
    const managers = ['pnpm', 'yarn', 'bun'] as const
    assert.deepEqual(
      managers.map((manager) => spellCommands(npm, manager)),
      others,
    )
  }
})
