import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'

describe('the settings of the limits', () => {
  test('take lists with and without spaces', () => {
    const environment = {
      PLANT_STORE_TRUSTED_PROXIES: '10.0.0.0/8, ::1,2001:db8::/32',
      PLANT_STORE_CORS_ORIGINS: 'https://a.example,http://localhost:5173 , capacitor://localhost',
      PLANT_STORE_FAILED_CREDENTIAL_LIMIT: 'off',
      PLANT_STORE_RATE_LIMIT: '500',
    }
    expect(loadConfig({}, [], environment)).toMatchObject({
      trustedProxies: ['10.0.0.0/8', '::1', '2001:db8::/32'],
      corsOrigins: ['https://a.example', 'http://localhost:5173', 'capacitor://localhost'],
      failedCredentialLimit: undefined,
      rateLimit: 500,
    })
  })

  test.each([
    ['PLANT_STORE_CORS_ORIGINS', '*', 'such as https://plants.example; there is no *'],
    ['PLANT_STORE_CORS_ORIGINS', 'https://a.example,*', '"*" must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'https://*.example', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'https://a.example/', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'https://a.example:443', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'https://A.example', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'https://user@a.example', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'a.example', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', 'null', 'must be an origin'],
    ['PLANT_STORE_CORS_ORIGINS', '', 'must be an origin'],
    ['PLANT_STORE_TRUSTED_PROXIES', 'proxy.example', 'must be an address or a network'],
    ['PLANT_STORE_TRUSTED_PROXIES', '10.0.0.0/33', 'must be an address or a network'],
    ['PLANT_STORE_TRUSTED_PROXIES', '::1/129', 'must be an address or a network'],
    ['PLANT_STORE_TRUSTED_PROXIES', '10.0.0.1,', 'must be an address or a network'],
    ['PLANT_STORE_TRUSTED_PROXIES', 'fe80::1%eth0', 'must be an address or a network'],
    ['PLANT_STORE_TRUSTED_PROXIES', '*', 'must be an address or a network'],
    ['PLANT_STORE_RATE_LIMIT', '0', 'must be a whole number from 1 to 1000000, or off'],
    ['PLANT_STORE_CONNECTION_LIMIT', '0', 'must be a whole number from 1'],
  ])('%s=%s is refused with its rule', (name, value, rule) => {
    expect(() => loadConfig({}, [], { [name]: value })).toThrow(rule)
  })
})
