import type { Case } from './case.ts'

/** Settings and cronjobs. */
export const configCases: readonly Case[] = [
  {
    name: 'an unknown setting',
    files: { 'waypost.yml': 'config:\n  token_lifetme: 1h\n' },
    problems: [
      'waypost.yml:2:3 «token_lifetme» WP_DEFINITION_SETTING_INVALID Unknown setting "token_lifetme" | Did you mean "token_lifetime"?',
    ],
  },
  {
    name: 'a setting that is no duration',
    files: { 'waypost.yml': 'config:\n  token_lifetime: 60\n' },
    problems: [
      'waypost.yml:2:19 «60» WP_DEFINITION_SETTING_INVALID "token_lifetime" must be a duration such as 30s, 10m or 1h, not 60',
    ],
  },
  {
    name: 'a token lifetime that is too long',
    files: { 'waypost.yml': 'config:\n  token_lifetime: 366d\n' },
    problems: [
      'waypost.yml:2:19 «366d» WP_DEFINITION_SETTING_INVALID "token_lifetime" must be at most 365d, not "366d"',
    ],
  },
  {
    name: 'a setting that is no size',
    files: { 'waypost.yml': 'config:\n  body_limit: 1 MB\n' },
    problems: [
      'waypost.yml:2:15 «1 MB» WP_DEFINITION_SETTING_INVALID "body_limit" must be a size such as 512kb or 1mb, not "1 MB" | Write 1mb',
    ],
  },
  {
    name: 'a setting that is no number',
    files: { 'waypost.yml': 'config:\n  subscription_limit: many\n' },
    problems: [
      'waypost.yml:2:23 «many» WP_DEFINITION_SETTING_INVALID "subscription_limit" must be an integer from 1 to 1000000, not "many"',
    ],
  },
  {
    name: 'a setting that is no flag',
    files: { 'waypost.yml': 'config:\n  registration: maybe\n' },
    problems: [
      'waypost.yml:2:17 «maybe» WP_DEFINITION_SETTING_INVALID "registration" must be true or false, not "maybe"',
    ],
  },
  {
    name: 'a setting that is none of the choices',
    files: { 'waypost.yml': 'config:\n  breaking_changes: forbit\n' },
    problems: [
      'waypost.yml:2:21 «forbit» WP_DEFINITION_SETTING_INVALID "breaking_changes" must be "warn" or "forbid", not "forbit" | Did you mean "forbid"?',
    ],
  },
  {
    name: 'a scope of administration that everybody would get',
    files: { 'waypost.yml': 'config:\n  scopes_default: [consumer, backend.read]\n' },
    problems: [
      'waypost.yml:2:30 «backend.read» WP_DEFINITION_SETTING_INVALID "scopes_default/1" must be a scope that is safe for every user, not "backend.read" | Grant it to individual users: waypost user:scopes NAME --add backend.read',
    ],
  },
  {
    name: 'two delays instead of three',
    files: { 'waypost.yml': 'config:\n  delivery_delays: [1m, 10m]\n' },
    problems: [
      'waypost.yml:2:20 «[1m, 10m]» WP_DEFINITION_SETTING_INVALID "delivery_delays" must be a list of 3 items, not 2',
    ],
  },
  {
    name: 'a delay that is no duration',
    files: { 'waypost.yml': 'config:\n  delivery_delays: [1m, 10m, later]\n' },
    problems: [
      'waypost.yml:2:30 «later» WP_DEFINITION_SETTING_INVALID "delivery_delays/2" must be a duration such as 30s, 10m or 1h, not "later"',
    ],
  },
  {
    name: 'a setting of an earlier version',
    files: { 'waypost.yml': 'config:\n  delivery_lease: 2m\n' },
    problems: [
      'waypost.yml:2:3 «delivery_lease» warning WP_DEFINITION_SETTING_REMOVED The setting "delivery_lease" no longer has an effect | Remove it.',
    ],
  },
  {
    name: 'an address range that is none',
    files: { 'waypost.yml': 'config:\n  delivery_allow: [10.0.0.0/33]\n' },
    problems: [
      'waypost.yml:2:20 «10.0.0.0/33» WP_DEFINITION_SETTING_INVALID "delivery_allow/0" must be an address range such as 10.0.0.0/8, not "10.0.0.0/33"',
    ],
  },
  {
    name: 'an origin with a path',
    files: { 'waypost.yml': 'config:\n  cors: [https://example.com/app]\n' },
    problems: [
      'waypost.yml:2:10 «https://example.com/app» WP_DEFINITION_SETTING_INVALID "cors/0" must be an origin such as https://app.example.com, without a path, or "*", not "https://example.com/app"',
    ],
  },
  {
    name: 'something to keep that is not known',
    files: { 'waypost.yml': 'config:\n  keep: { delivery: 3d }\n' },
    problems: [
      'waypost.yml:2:11 «delivery» WP_DEFINITION_SETTING_INVALID "delivery" is not a valid key of "keep" | Valid keys: messages, deliveries, attempts, tokens, families, codes, sessions, feed, throttles, releases, audit',
    ],
  },
  {
    name: 'a default of a variable that does not match',
    files: { 'waypost.yml': 'config:\n  token_lifetime: ${env.TTL:-long}\n' },
    problems: [
      'waypost.yml:2:19 «${env.TTL:-long}» WP_DEFINITION_SETTING_INVALID "token_lifetime" must be a duration such as 30s, 10m or 1h, not "long"',
    ],
  },
  {
    name: 'config that is a list',
    files: { 'waypost.yml': 'config: [a]\n' },
    problems: [
      'waypost.yml:1:9 «[a]» WP_DEFINITION_VALUE_INVALID "config" must be a map of settings to values, not a list',
    ],
  },
  {
    name: 'a schedule of four fields',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 4 * *", action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:18 «"0 4 * *"» WP_DEFINITION_CRON_INVALID A schedule has five fields (minute, hour, day, month, weekday), not 4',
    ],
  },
  {
    name: 'a minute that does not exist',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "60 4 * * *", action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:18 «"60 4 * * *"» WP_DEFINITION_CRON_INVALID "60" is not a valid minute (0 to 59, *, 1-5, */2)',
    ],
  },
  {
    name: 'a day that does not exist',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 4 * * fry", action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:18 «"0 4 * * fry"» WP_DEFINITION_CRON_INVALID "fry" is not a valid day of the week (0 to 7, or sun to sat, *, 1-5, */2)',
    ],
  },
  {
    name: 'a range that runs backwards',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "30-10 4 * * *", action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:18 «"30-10 4 * * *"» WP_DEFINITION_CRON_INVALID "30-10" is not a valid minute (0 to 59, *, 1-5, */2)',
    ],
  },
  {
    name: 'a schedule that never comes',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 4 30 2 *", action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:18 «"0 4 30 2 *"» WP_DEFINITION_CRON_INVALID This schedule never matches: its months have no day 30',
    ],
  },
  {
    name: 'a time zone that is not known',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 4 * * *", timezone: Europe/Berln, action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:41 «Europe/Berln» WP_DEFINITION_CRON_INVALID Unknown time zone "Europe/Berln" | Did you mean "Europe/Berlin"?',
    ],
  },
  {
    name: 'a timeout of a cronjob that is no duration',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 4 * * *", timeout: 10, action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:40 «10» WP_DEFINITION_VALUE_INVALID "timeout" must be a duration such as 30s or 5m, not 10',
    ],
  },
  {
    name: 'a timeout of a cronjob that is longer than a day',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 4 * * *", timeout: 25h, action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:40 «25h» WP_DEFINITION_CRON_INVALID "timeout" must be more than 0 and at most 24h, not "25h"',
    ],
  },
  {
    name: 'a cronjob without a schedule',
    files: { 'waypost.yml': 'cronjob:\n  j: { action: src/a.ts }\n' },
    problems: ['waypost.yml:2:3 «j» WP_DEFINITION_KEY_MISSING "schedule" is missing, but required in a cronjob'],
  },
]
