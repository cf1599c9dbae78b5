require 'openapi_client'

OpenapiClient.configure do |config|
  config.scheme, config.host = ENV.fetch('PLANT_STORE_BASE_URL').split('://')
  config.access_token = ENV.fetch('PLANT_STORE_TOKEN')
end
plant = OpenapiClient::NewPlant.new(id: Integer(ARGV[0]), name: ARGV[1], tag: 'indoor')
begin
  stored = OpenapiClient::PlantsApi.new.create_plant(plant)
  puts JSON.generate(stored: stored.to_hash)
rescue OpenapiClient::ApiError => e
  puts e.response_body
end
