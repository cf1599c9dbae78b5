<?php
require 'vendor/autoload.php';

use OpenAPI\Client\Api\PlantsApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\NewPlant;

$config = (new Configuration())
    ->setHost(getenv('PLANT_STORE_BASE_URL'))
    ->setAccessToken(getenv('PLANT_STORE_TOKEN'));
$plant = new NewPlant(['id' => (int) $argv[1], 'name' => $argv[2], 'tag' => 'indoor']);
try {
    $stored = (new PlantsApi(null, $config))->createPlant($plant);
    echo json_encode(['stored' => $stored]);
} catch (ApiException $refusal) {
    echo json_encode($refusal->getResponseObject());
}
