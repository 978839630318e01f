// A reporter for bin/test.ts: writes a line of JSON for each failed test at the top of a file.
import type { TestEvent } from 'node:test/reporters'

export interface Failure {
  readonly name: string
  readonly file: string | undefined
}

// oxlint-disable-next-line import/no-default-export -- Node expects that of a reporter
export default async function* listFailures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:fail' || event.data.nesting > 0) continue
    const { name, file } = event.data
    yield `${JSON.stringify({ name, file } satisfies Failure)}\n`
  }
}
