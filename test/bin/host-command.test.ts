import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HostCommand } from '../../bin/cli/index.ts'

class Asking extends HostCommand {
  async run(): Promise<void> {
    await this.confirmChange('Run seeds on it?', { isConfirmed: false })
  }

  override isInteractive(): boolean {
    return false
  }
}

test('without a terminal, a command says what it would ask, and that --yes is needed', async (t) => {
  const printed: string[] = []
  const write = t.mock.method(process.stderr, 'write', (text: string) => printed.push(text) > 0)
  const command = Object.create(Asking.prototype) as Asking
  await assert.rejects(command.run(), { code: 'WP_CLI_CONFIRM', hint: /--yes/ })
  write.mock.restore()
  assert.deepEqual(printed, ['  Run seeds on it?\n'])
})
