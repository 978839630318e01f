import { boolean, custom, string } from '@oclif/core/flags'

/** Flags that the commands of the topic `migrate` share. */
export const migrationFlags = {
  connection: string({
    description: 'The connection whose migrations are meant, where several have some',
    env: 'WAYPOST_CONNECTION',
  }),
  yes: boolean({ char: 'y', description: 'Ask nothing' }),
  /** A migration by its name, as which the name of its file is taken too. */
  to: custom({ parse: async (text) => text.replace(/^.*\//, '').replace(/\.ts$/, '') }),
}
